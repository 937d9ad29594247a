/// A function that changes a to-many relationship and that Core Data implements, such as `addToTags(_:)`.
package struct RelationshipFunction {
    /// A parameter of a function.
    package struct Parameter {
        package let label: String, name: String, type: String

        package init(label: String, name: String, type: String) {
            (self.label, self.name, self.type) = (label, name, type)
        }
    }

    /// The statement that does the same by key-value coding.
    package let body: String

    /// Nil if the name and the parameters are not those of such a function.
    ///
    /// - Parameter properties: The types of the class's properties by name.
    package init?(_ name: String, _ parameters: [Parameter], properties: [String: String]) {
        guard let value = parameters.first else { return nil }
        let labels = parameters.map(\.label)
        /// The relationship that follows a prefix of the function's name.
        func key(after prefix: String, before suffix: String = "") -> String? {
            guard name.hasPrefix(prefix), name.hasSuffix(suffix), name.count > prefix.count + suffix.count else {
                return nil
            }
            let capitalized = String(name.dropFirst(prefix.count).dropLast(suffix.count))
            guard capitalized.first?.isUppercase == true else { return nil }
            return properties.keys.first { $0.prefix(1).uppercased() + $0.dropFirst() == capitalized }
                ?? capitalized.prefix(1).lowercased() + capitalized.dropFirst()
        }
        func objects(_ key: String) -> String {
            let isOrdered = properties[key]?.contains("OrderedSet") ?? false
            return "\(isOrdered ? "mutableOrderedSetValue" : "mutableSetValue")(forKey: \"\(key)\")"
        }
        func ordered(_ key: String) -> String { "mutableOrderedSetValue(forKey: \"\(key)\")" }
        let isMany = ["Set", "["].contains { value.type.contains($0) }
        func each(_ call: String, _ key: String) -> String {
            isMany
                ? "Array(\(value.name)).forEach { \(objects(key)).\(call)($0) }"
                : "\(objects(key)).\(call)(\(value.name))"
        }
        switch labels {
        case ["_"]:
            if let key = key(after: "addTo") ?? key(after: "add", before: "Object") {
                body = each("add", key)
            } else if let key = key(after: "removeFrom") ?? key(after: "remove", before: "Object") {
                body = each("remove", key)
            } else if isMany, let key = key(after: "add") {
                body = each("add", key)
            } else if isMany, let key = key(after: "remove") {
                body = each("remove", key)
            } else {
                return nil
            }
        case ["_", "at"]:
            guard let key = key(after: "insertInto") else { return nil }
            let place =
                parameters[1].type.contains("IndexSet") ? "IndexSet(\(parameters[1].name))" : parameters[1].name
            body = "\(ordered(key)).insert(\(value.name), at: \(place))"
        case ["at"]:
            guard let key = key(after: "removeFrom") else { return nil }
            body =
                value.type.contains("IndexSet")
                ? "\(ordered(key)).removeObjects(at: IndexSet(\(value.name)))"
                : "\(ordered(key)).removeObject(at: \(value.name))"
        case ["at", "with"]:
            guard let key = key(after: "replace") else { return nil }
            body =
                value.type.contains("IndexSet")
                ? "\(ordered(key)).replaceObjects(at: IndexSet(\(value.name)), with: \(parameters[1].name))"
                : "\(ordered(key)).replaceObject(at: \(value.name), with: \(parameters[1].name))"
        default: return nil
        }
    }
}
