import CoreData

/// Finds the properties that a key path leads through, such as `\.owner?.name`, or an inherited property with the subclass as root.
///
/// The key paths of a class's own properties are in a table. Those here are compared with them part by part, and never read: what a
/// computed property returns for some values says nothing about others.
enum KeyPathComponents {
    /// The properties of a path, from the class on; nil if one of its parts has no persisted property, or cannot be told from others.
    static func path(of keyPath: AnyKeyPath, in modelClass: ModelClass) -> [ModelProperty]? {
        if let property = inherited(keyPath, in: modelClass) { return [property] }
        guard let texts = texts(of: keyPath) else { return nil }
        var path: [ModelProperty] = []
        var current: ModelClass? = modelClass
        for text in texts {
            guard let property = current?.property(withText: text) else { return nil }
            path.append(property)
            current = property.destination.map(ModelClass.of)
        }
        return path
    }

    /// The parts of a key path as its description has them: a name, or the address of a getter. The description does not show whether
    /// the program may set the property, in which key paths of one property can differ.
    static func texts(of keyPath: AnyKeyPath) -> [String]? {
        let description = keyPath.debugDescription
        let root = "\\\(String(describing: type(of: keyPath).rootType))."
        guard description.hasPrefix(root) else { return nil }
        var texts = [""]
        var depth = 0
        for character in description.dropFirst(root.count) {
            switch character {
            case "<", "(": depth += 1
            case ">", ")": depth -= 1
            case "." where depth == 0:
                texts.append("")
                continue
            case "?" where depth == 0, "!" where depth == 0: continue
            default: break
            }
            texts[texts.count - 1].append(character)
        }
        return texts
    }

    /// The inherited property of a key path whose root is the subclass: its part is equal to that of the superclass's key path.
    private static func inherited(_ keyPath: AnyKeyPath, in modelClass: ModelClass) -> ModelProperty? {
        func find<Model: PersistentModel, Value>(_: Model.Type, _: Value.Type) -> ModelProperty? {
            guard let keyPath = keyPath as? KeyPath<Model, Value> else { return nil }
            // Key paths are equal if their types and their parts are.
            let boxed = (\RootBox<Model>.model).appending(path: keyPath)
            return modelClass.inheritedProperties.first { property in
                guard property.valueID == ObjectIdentifier(Value.self) else { return false }
                // Unchecked because the type is that of the superclass. An object has its properties by the same accessors.
                let opaque = Unmanaged.passUnretained(property.keyPath).toOpaque()
                let ofSubclass = Unmanaged<KeyPath<Model, Value>>.fromOpaque(opaque).takeUnretainedValue()
                return (\RootBox<Model>.model).appending(path: ofSubclass) == boxed
            }
        }
        func ofModel<Model: PersistentModel>(_ model: Model.Type) -> ModelProperty? {
            func ofValue<Value>(_ value: Value.Type) -> ModelProperty? { find(model, value) }
            return _openExistential(type(of: keyPath).valueType, do: ofValue)
        }
        return _openExistential(modelClass.type, do: ofModel)
    }

    private struct RootBox<Model> {
        let model: Model
    }
}
