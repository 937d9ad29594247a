import Foundation

// Values whose files beside the store do not exist. Not part of Core Data's API.

/// The value of an attribute whose file does not exist; a save writes the reference to the file.
package struct MissingFileValue {
    /// The file's name.
    package let name: String

    package init(name: String) {
        self.name = name
    }
}

extension NSManagedObject {
    /// The name of the file beside the store to which an attribute's row refers and which does not exist; nil if the
    /// attribute has a value or is null, and if the entity has no such attribute.
    package func missingFile(forKey key: String) -> String? {
        guard let slot = layout.slot(named: key) else { return nil }
        let value = slotValue(slot)
        if case .object(let box) = value, let file = box.value as? MissingFileValue { return file.name }
        // Setting null if the value is null already does not change the row: it still refers to the file.
        guard value.isNull, let page, flags.contains(.realised) else { return nil }
        return page.missingFile(row: Int(row), slot: slot)
    }

    /// Makes an attribute refer to a file of that name, which need not exist, in the row that a save writes. The value
    /// must not be read before the save. For restoring stores unchanged.
    ///
    /// - Returns: False, without a change, if the attribute does not allow external storage, or the name is not a
    ///   UUID.
    package func setMissingFile(_ name: String, forKey key: String) -> Bool {
        guard let slot = layout.slot(named: key), UUID(uuidString: name) != nil,
            layout.slots[slot].attribute?.allowsExternalBinaryDataStorage == true
        else { return false }
        recordChange()
        setPrimitiveSlot(slot, to: .object(ObjectValue(MissingFileValue(name: name))))
        return true
    }
}

extension RowPage {
    /// The name of the missing file that should contain the value; nil if no file is missing.
    func missingFile(row: Int, slot: Int) -> String? {
        let cell = cell(row: row, slot: slot)
        if cell.kind == .file { return file(of: cell).content() == nil ? file(of: cell).name : nil }
        guard cell.kind == .null, cell.length > 0 else { return nil }
        return string(of: cell)
    }

    /// A row's values, with references to files instead of values whose files do not exist.
    func valuesAndMissingFiles(row: Int) -> ContiguousArray<Value> {
        var values = values(row: row)
        for slot in values.indices where values[slot].isNull {
            guard let name = missingFile(row: row, slot: slot) else { continue }
            values[slot] = .object(ObjectValue(MissingFileValue(name: name)))
        }
        return values
    }
}
