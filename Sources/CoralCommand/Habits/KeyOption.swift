import ArgumentParser
import Coral

/// The identity of objects: `--key Note=id`, or `--key Line=order,number`.
struct KeyOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The attributes that identify objects, such as Note=id or Line=order,number.", valueName: "key"))
    var key: [String] = []

    /// The identities, checked against a model. Throws `CommandError` with a name that the model does not have.
    func identity(in model: NSManagedObjectModel) throws -> ObjectIdentity {
        var identity = ObjectIdentity()
        for text in key {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            let names = parts.count == 2 ? parts[1].split(separator: ",").map(String.init) : []
            guard !names.isEmpty else { throw CommandError("--key \(text) is not of the form Entity=attribute,….") }
            let entity = try OpenStore.entity(named: parts[0], in: model)
            for name in names {
                try KeyPathCheck(entity).check(name.split(separator: ".").map(String.init), in: text)
            }
            guard identity.keys.updateValue(names, forKey: parts[0]) == nil else {
                throw CommandError("--key is given twice for \(parts[0]). Name all attributes in one option.")
            }
        }
        return identity
    }
}
