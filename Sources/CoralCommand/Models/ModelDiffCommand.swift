import ArgumentParser
import Coral
import ModelFiles

/// `coral model diff`: the differences between two models.
struct ModelDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Compares two models, and reports whether stores must be migrated.",
        discussion: """
            Each side is a model file of any kind or a store. For a source model with several versions, --from and \
            --to select two of them; without these options, the current version is compared with the previous one. \
            Exit code 2 means that there are differences.

            EXAMPLES:
              coral model diff Old.sqlite Notes.xcdatamodeld
              coral model diff Notes.xcdatamodeld
              coral model diff Notes.xcdatamodeld --from 'Notes 2' --to 'Notes 3' --json
            """)

    @Argument(help: "The old model.", completion: Completion.models)
    var old: String

    @Argument(help: "The new model. Default: another version of the old one.", completion: Completion.models)
    var new: String?

    @Option(name: .long, help: ArgumentHelp("The version of the old model.", valueName: "version"))
    var from: String?

    @Option(name: .long, help: ArgumentHelp("The version of the new model.", valueName: "version"))
    var to: String?

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    func run() throws { try proof.prove([old] + (new.map { [$0] } ?? []), body: compare) }

    private func compare() throws {
        let (before, after) = try versions()
        let difference = ModelDifference(from: before.model, to: after.model)
        let report = ModelDiffReport(difference, from: before.name, to: after.name)
        if json {
            try JSONOutput.write(report)
        } else {
            try StandardOutput.write(report.text(difference))
        }
        if !difference.isEmpty { throw CommandStatus.findings.exitCode }
    }

    private func versions() throws -> (ModelFile.Version, ModelFile.Version) {
        let file = try ModelFileSource.file(at: old)
        if let new {
            return (
                try ModelFileSource.version(from, of: file),
                try ModelFileSource.version(to, of: ModelFileSource.file(at: new))
            )
        }
        let after = try ModelFileSource.version(to, of: file)
        if let from { return (try ModelFileSource.version(from, of: file), after) }
        guard let index = file.versions.firstIndex(of: after), index > 0 else {
            throw CommandError(
                "\(old) has no version before \"\(after.name)\" to compare it with. Give a second model, or --from.")
        }
        return (file.versions[index - 1], after)
    }
}

/// The output of `coral model diff`.
private struct ModelDiffReport: Encodable {
    struct Change: Encodable {
        var kind: String
        var entity: String?
        var property: String?
        var aspect: String?
        var old: String?
        var new: String?
        var summary: String?
    }

    struct Obstacle: Encodable {
        var entity: String
        var property: String?
        var reason: String
    }

    var from: String
    var to: String
    var changes: [Change]
    var differentHashes: [String]
    /// Whether a store of the old model can be opened with the new one without migration.
    var opensWithoutMigration: Bool
    /// Whether Core Data can infer the migration, if one is needed.
    var migratesByItself: Bool
    var obstacles: [Obstacle]

    init(_ difference: ModelDifference, from: String, to: String) {
        self.from = from
        self.to = to
        changes = difference.changes.map { change in
            var shown = Change(
                kind: "", entity: change.entity.isEmpty ? nil : change.entity, property: change.property,
                summary: change.summary.isEmpty ? nil : change.summary)
            switch change.kind {
            case .added: shown.kind = "added"
            case .removed: shown.kind = "removed"
            case .renamed(let old): (shown.kind, shown.old) = ("renamed", old)
            case .changed(let aspect, let old, let new):
                (shown.kind, shown.aspect, shown.old, shown.new) = ("changed", aspect, old, new)
            }
            return shown
        }
        differentHashes = difference.differentHashes
        opensWithoutMigration = difference.differentHashes.isEmpty
        migratesByItself = difference.mapping.obstacles.isEmpty
        obstacles = difference.mapping.obstacles.map {
            .init(entity: $0.entity, property: $0.property, reason: $0.reason)
        }
    }

    func text(_ difference: ModelDifference) -> String {
        guard !difference.isEmpty else { return "The models are equal.\n" }
        var text = ""
        var entity: String?
        for change in difference.changes {
            if change.entity != entity, change.property != nil || !Self.isWhole(change) {
                text += change.entity.isEmpty ? "Model\n" : "\(TextStyle.bold.text(change.entity))\n"
            }
            entity = change.entity
            text += Self.line(change) + "\n"
        }
        if opensWithoutMigration {
            return text + "\nThe version hashes are equal: stores open with either model.\n"
        }
        text += "\nVersion hashes differ: \(differentHashes.joined(separator: ", ")). A store must be migrated.\n"
        if obstacles.isEmpty { return text + "Core Data can infer the migration.\n" }
        text += "Core Data cannot infer the migration:\n"
        for obstacle in obstacles {
            let subject = [obstacle.entity, obstacle.property].compactMap { $0 }.joined(separator: ".")
            text += "    \(subject): \(obstacle.reason)\n"
        }
        return text
    }

    /// Whether a change applies to a whole entity and has a line of its own.
    private static func isWhole(_ change: ModelDifference.Change) -> Bool {
        change.property == nil && (change.kind == .added || change.kind == .removed)
    }

    private static func line(_ change: ModelDifference.Change) -> String {
        let name = change.property.map { "\(change.propertyKind ?? "property") \($0)" }
        let indentation = isWhole(change) ? "" : "    "
        let subject = isWhole(change) ? "entity \(change.entity)" : name ?? ""
        switch change.kind {
        case .added: return TextStyle.green.text("\(indentation)+ \(subject)") + "  \(change.summary)"
        case .removed: return TextStyle.red.text("\(indentation)- \(subject)") + "  \(change.summary)"
        case .renamed(let old): return "\(indentation)~ \(subject.isEmpty ? "" : subject + " ")was \(old)"
        case .changed(let aspect, let old, let new):
            let values = "\(old.isEmpty ? "none" : old) -> \(new.isEmpty ? "none" : new)"
            return "\(indentation)~ \(subject.isEmpty ? "" : subject + ": ")\(aspect) \(values)"
        }
    }
}
