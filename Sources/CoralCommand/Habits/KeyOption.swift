import Coral

/// What `--key` says: `Note=id`, or `Line=order,number`.
enum KeyOption {
    /// The keys by entity. Throws `CommandError` that shows a name which the model does not have.
    static func keys(_ texts: [String], in model: NSManagedObjectModel) throws -> [String: [String]] {
        var keys: [String: [String]] = [:]
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw CommandError("--key \(text) is not of the form Entity=attribute,….") }
            let entity = try OpenStore.entity(named: parts[0], in: model)
            let names = parts[1].split(separator: ",").map(String.init)
            for name in names {
                try KeyPathCheck(entity).check(name.split(separator: ".").map(String.init), in: text)
            }
            keys[parts[0]] = names
        }
        return keys
    }
}
