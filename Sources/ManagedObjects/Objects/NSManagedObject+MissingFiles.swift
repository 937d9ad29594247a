import Foundation

// Values whose files beside the store do not exist. Not part of Core Data's API.

/// A value in a file that does not exist: what is written for it is the reference.
struct MissingFileValue {
    /// The file's name.
    let name: String
}

@_spi(Stores)
extension NSManagedObject {
    /// The name of the file beside the store that should hold an attribute's value and does not exist; nil where the attribute
    /// has a value, where it has none, and where it is not one of the entity's.
    public func missingFile(forKey key: String) -> String? {
        guard let slot = layout.slot(named: key) else { return nil }
        let values = currentValues()
        if case .object(let box) = values[slot], let file = box.value as? MissingFileValue { return file.name }
        // Null in place of null changes nothing: the row goes on referring to the file.
        guard values[slot].isNull, let page, state.contains(.realised) else { return nil }
        return page.missingFile(row: Int(row), slot: slot)
    }

    /// Makes an attribute refer to a file of that name, which need not exist, in the row that a save writes. Until then its
    /// value is not to be asked for. For stores that are restored as they were.
    ///
    /// - Returns: False, with nothing changed, where the attribute keeps no values in files, or the name is that of none.
    public func setMissingFile(_ name: String, forKey key: String) -> Bool {
        guard let slot = layout.slot(named: key), UUID(uuidString: name) != nil,
            layout.slots[slot].attribute?.allowsExternalBinaryDataStorage == true
        else { return false }
        recordChange()
        setPrimitiveSlot(slot, to: .object(ObjectValue(MissingFileValue(name: name))))
        return true
    }
}
