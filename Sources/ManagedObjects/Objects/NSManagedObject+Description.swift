import Foundation

extension NSManagedObject {
    /// The text of ``description``: the object's entity, ID and values. Faults stay faults, and relationships are not loaded.
    final var objectDescription: String {
        let content: String
        if isFault {
            content = "<fault>"
        } else {
            content = layout.fields.keys.sorted().map { name in
                "    \(name) = \(describedValue(forKey: name));"
            }.joined(separator: "\n")
        }
        return "<\(type(of: self))> (entity: \(entity.name ?? ""); id: \(objectID); data: {\n\(content)\n})"
    }

    private func describedValue(forKey name: String) -> String {
        switch layout.fields[name] {
        case .toMany(let index) where toManyState(at: index)?.isLoaded != true: "\"<relationship fault>\""
        case .fetched: "\"<fetched property>\""
        case .toMany(let index):
            toManyState(at: index)?.members.count == 1
                ? "(1 object)" : "(\(toManyState(at: index)?.members.count ?? 0) objects)"
        case .slot(let slot) where layout.slots[slot].kind == .toOne:
            relatedObject(slot: slot).map { $0.objectID.description } ?? "nil"
        default: value(forKey: name).map { String(describing: $0) } ?? "nil"
        }
    }
}
