/// The attributes of an element, in the order of the document.
package struct XMLAttributes: Sendable {
    private(set) var names: [String] = []
    private(set) var values: [String] = []

    /// The value of an attribute; nil if the element does not have it.
    package subscript(name: String) -> String? {
        for index in names.indices where names[index] == name { return values[index] }
        return nil
    }

    /// The values by name.
    package var dictionary: [String: String] { Dictionary(zip(names, values)) { first, _ in first } }

    mutating func append(_ name: String, _ value: String) {
        names.append(name)
        values.append(value)
    }

    mutating func removeAll() {
        names.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
    }

    /// Whether a name occurs twice. Cost: linear also for a tag with many attributes.
    var hasDuplicate: Bool {
        if names.count > 8 { return Set(names).count < names.count }
        for index in names.indices.dropFirst() where names[..<index].contains(names[index]) { return true }
        return false
    }
}
