import ArgumentParser
import Coral

/// What identifies objects: `--key Note=id`, or `--key Line=order,number`.
struct KeyOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "What identifies objects of an entity, such as Note=id or Line=order,number.", valueName: "key"))
    var key: [String] = []

    /// What was said, for a model. Throws `CommandError` that shows a name which the model does not have.
    func identity(in model: NSManagedObjectModel) throws -> ImportIdentity {
        var identity = ImportIdentity()
        for text in key {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            let names = parts.count == 2 ? parts[1].split(separator: ",").map(String.init) : []
            guard !names.isEmpty else { throw CommandError("--key \(text) is not of the form Entity=attribute,….") }
            let entity = try OpenStore.entity(named: parts[0], in: model)
            for name in names {
                try KeyPathCheck(entity).check(name.split(separator: ".").map(String.init), in: text)
            }
            guard identity.keys.updateValue(names, forKey: parts[0]) == nil else {
                throw CommandError("--key is said twice for \(parts[0]). Name all of its attributes in one.")
            }
        }
        return identity
    }
}
