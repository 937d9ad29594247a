import ArgumentParser
import Coral
import CoralMigration

/// The repairs of a migration: `--fill`, `--convert`, `--deduplicate`.
struct MigrationRepairOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The value for objects without a value of a required attribute.", valueName: "Entity.attribute=value"),
        completion: Completion.properties)
    var fill: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Convert an attribute to its new type.", valueName: "Entity.attribute[=clamp|clear|=value]"),
        completion: Completion.properties)
    var convert: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Merge objects with equal values of these attributes.", valueName: "Entity=attribute,…"),
        completion: Completion.properties)
    var deduplicate: [String] = []

    /// The repairs. Throws `CommandError` for text of another form.
    func chosen() throws -> [MigrationRepair] {
        try fill.map { text in
            guard let (entity, attribute, value) = Self.parts(text), let value else {
                throw CommandError("--fill \(text) is not of the form Entity.attribute=value.")
            }
            return MigrationRepair(entity, .fill(attribute: attribute, .string(value)))
        }
            + convert.map { text in
                guard let (entity, attribute, value) = Self.parts(text), let narrowing = Self.narrowing(value) else {
                    throw CommandError(
                        "--convert \(text) is not of the form Entity.attribute, Entity.attribute=clamp, "
                            + "Entity.attribute=clear or Entity.attribute==value.")
                }
                return MigrationRepair(entity, .convert(attribute: attribute, narrowing))
            }
            + deduplicate.map { text in
                let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
                let names = parts.count == 2 ? parts[1].split(separator: ",").map(String.init) : []
                guard !names.isEmpty else {
                    throw CommandError("--deduplicate \(text) is not of the form Entity=attribute,….")
                }
                return MigrationRepair(parts[0], .deduplicate(names))
            }
    }

    private static func narrowing(_ text: String?) -> MigrationRepair.Narrowing? {
        switch text {
        case nil: .fail
        case "clamp": .clamp
        case "clear": .clear
        case let text?: text.text(after: "=").map { .replace(.string($0)) }
        }
    }

    /// The parts of `Entity.attribute=value`; the value is nil without `=`.
    private static func parts(_ text: String) -> (entity: String, attribute: String, value: String?)? {
        let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let names = sides[0].split(separator: ".", maxSplits: 1).map(String.init)
        guard names.count == 2 else { return nil }
        return (names[0], names[1], sides.count == 2 ? sides[1] : nil)
    }
}
