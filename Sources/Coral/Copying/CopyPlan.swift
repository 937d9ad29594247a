import CoreData

/// What copying would do.
public struct CopyPlan: Sendable, CustomStringConvertible {
    /// The objects that would be copied, in the order in which they are met: those asked for first.
    public internal(set) var originals: [NSManagedObjectID] = []
    /// How many objects of each entity would be copied.
    public internal(set) var counts: [String: Int] = [:]
    /// How many links to objects that are not copied would be made, for each relationship as `Entity.name`.
    public internal(set) var links: [String: Int] = [:]
    /// The number of places where a copy would not be related to what its original is related to, although no rule
    /// says so.
    public internal(set) var omissionCount = 0
    /// The first hundred of them.
    public internal(set) var omissions: [CopyOmission] = []
    /// Properties, as `Entity.property`, that the copies' model does not have.
    public internal(set) var missingProperties: [String] = []

    /// The numbers in one line: `12 objects (1 Note, 11 Item), 3 links, 1 omission`.
    public var summary: String {
        let entities = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        var parts = [count(originals.count, "object") + (entities.isEmpty ? "" : " (\(entities))")]
        parts.append(count(links.values.reduce(0, +), "link"))
        if omissionCount > 0 { parts.append(count(omissionCount, "omission")) }
        return parts.joined(separator: ", ")
    }

    public var description: String { summary }

    private func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
