/// What a job has done with one store: a line of its output.
struct FleetOutcome: Codable {
    enum Kind: String, Codable, CaseIterable {
        case done
        /// There was nothing to do.
        case unchanged
        case findings
        case failed
    }

    struct Problem: Codable {
        var code: String
        var entity: String
        var count: Int
    }

    var command = ""
    /// The path or URL, without a password.
    var store = ""
    var outcome: Kind
    /// A sentence for people.
    var message: String
    var seconds = 0.0

    // What the commands find.
    var objectCount: Int?
    var byteCount: Int64?
    var hasHistory: Bool?
    var model: String?
    var uuid: String?
    var problems: [Problem]?
    /// The steps of a migration or an upgrade.
    var steps: [String]?

    init(_ outcome: Kind, _ message: String) { (self.outcome, self.message) = (outcome, message) }
}
