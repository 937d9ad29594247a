import Coral
import CoralMigration

/// The output of `coral migrate`.
struct MigrationReport: Encodable {
    struct Step: Encodable {
        var from: String
        var to: String
        /// `inferred`, `mapping`, `repaired` or `impossible`.
        var kind: String
        /// The name of the mapping model.
        var mapping: String?
        var obstacles: [String]

        init(_ step: MigrationStep) {
            from = step.source.name
            to = step.destination.name
            obstacles = step.obstacles
            switch step.kind {
            case .inferred: kind = "inferred"
            case .mapping(let given): (kind, mapping) = ("mapping", given.name)
            case .repaired: kind = "repaired"
            case .impossible: kind = "impossible"
            }
        }

        /// The step as text, which has this source if several steps are one line.
        func text(since source: String? = nil, _ count: Int = 1) -> String {
            let way: String =
                switch kind {
                case "mapping": "by the mapping model \(mapping ?? "")"
                case "repaired": "inferred, with repairs"
                case "impossible": TextStyle.red.text("impossible")
                default: count > 1 ? "\(count) inferred steps" : kind
                }
            return "\(source ?? from) -> \(to): \(way)\n" + obstacles.map { "    \($0)\n" }.joined()
        }
    }

    struct Finding: Encodable {
        var code: String
        var entity: String
        var property: String?
        var count: Int
        var objects: [String]
        var message: String
        var isBreaking: Bool
        var step: String

        init(_ finding: MigrationFinding) {
            code = finding.code.rawValue
            entity = finding.entity
            property = finding.property
            count = finding.count
            objects = finding.objects.map(\.absoluteString)
            message = finding.message
            isBreaking = finding.isBreaking
            step = finding.step
        }

        var text: String {
            let subject = [entity, property].compactMap { $0 }.joined(separator: ".")
            let number = "\(Quantity.grouped(count))×"
            let style = isBreaking ? TextStyle.red : TextStyle.bold
            let shown = objects.prefix(3).map(StoredName.shortened)
            let more = count > shown.count ? ", …" : ""
            return "\(style.text(number)) \(subject): \(message)\n    \(shown.joined(separator: ", "))\(more)\n"
        }
    }

    var store: String
    var to: String
    var steps: [Step]
    /// Why several steps are not one; nil for one step, and for steps with mapping models.
    var detour: String?
    var findings: [Finding]
    /// Why the migration fails; nil if it would succeed.
    var failure: String?
    /// How long the migration of the copy took, in seconds.
    var seconds: Double
    /// How long the rehearsal took, including the copy and the search for findings, in seconds.
    var rehearsalSeconds: Double
    var objectCount: Int
    var isMigrated = false

    init(
        _ result: MigrationRehearsal.Result, of migration: ProgressiveMigration, store: String, rehearsalSeconds: Double
    ) {
        self.rehearsalSeconds = (rehearsalSeconds * 1000).rounded() / 1000
        self.store = store
        to = migration.destination.name
        detour = migration.detour(of: result.steps)
        steps = result.steps.map(Step.init)
        findings = result.findings.map(Finding.init)
        failure = result.failure
        seconds = (result.duration * 1000).rounded() / 1000
        objectCount = result.objectCount
    }

    /// The report of a rehearsal, as text.
    var text: String {
        guard !steps.isEmpty else { return conclusion }
        var text = stepLines + (detour.map { "\($0)\n" } ?? "") + findings.map(\.text).joined()
        if failure == nil {
            let isExamined = !steps.contains { $0.kind == "mapping" }
            text += findings.isEmpty && isExamined ? "The migration loses nothing" : "The migration works"
            text += "; on a copy it took \(Self.text(ofSeconds: seconds))"
            // Making and examining the copy may take longer than the migration.
            text +=
                rehearsalSeconds - seconds < 1
                ? ".\n" : ", and the rehearsal \(Self.text(ofSeconds: rehearsalSeconds)).\n"
            if !isExamined { text += "What a mapping model removes or changes was not examined.\n" }
        }
        return text
    }

    /// A line for each step; inferred steps in turn are one line.
    private var stepLines: String {
        var lines = ""
        var first = 0
        for (index, step) in steps.enumerated() {
            let next = index + 1 < steps.count ? steps[index + 1].kind : nil
            if step.kind == "inferred", next == "inferred" { continue }
            lines += step.text(since: steps[first].from, index - first + 1)
            first = index + 1
        }
        return lines
    }

    private static func text(ofSeconds seconds: Double) -> String {
        "\(seconds < 0.1 ? "less than 0.1" : "\((seconds * 10).rounded() / 10)") s"
    }

    /// The result of a migration, as a sentence.
    var conclusion: String {
        guard !steps.isEmpty else { return "\(store) has the version \"\(to)\" already.\n" }
        return "Migrated \(Quantity.count(objectCount, "object")) to \"\(to)\" in "
            + "\(Quantity.count(steps.count, "step")).\n"
    }
}
