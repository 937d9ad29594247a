import Foundation

/// The rows of a batch insertion, in the order in which the request returns them.
struct BatchRows {
    /// A new row, and the slots that the request sets.
    typealias Row = (values: ContiguousArray<Value>, slots: [Int])

    /// The next row; nil after the last.
    let next: () throws -> Row?

    /// - Throws: `CocoaError.coreData` if the request has nothing to insert.
    init(_ request: NSBatchInsertRequest, entity: NSEntityDescription, store: UInt16) throws {
        let layout = entity.layout
        let reader = BatchValues(layout: layout, store: store)
        func row(_ dictionary: [String: Any]) throws -> Row {
            var values = layout.initialValues
            let slots = try reader.set(dictionary, in: &values)
            return (values, slots)
        }
        if let objects = request.objectsToInsert {
            var position = 0
            next = {
                guard position < objects.count else { return nil }
                defer { position += 1 }
                return try row(objects[position])
            }
        } else if let handler = request.dictionaryHandler {
            next = {
                let dictionary = NSMutableDictionary()
                if handler(dictionary) { return nil }
                var named: [String: Any] = [:]
                for (key, value) in dictionary { if let key = key as? String { named[key] = value } }
                return try row(named)
            }
        } else if let handler = request.managedObjectHandler {
            next = {
                let object = entity.managedObjectClass.init(entity: entity, insertInto: nil)
                if handler(object) { return nil }
                return (object.currentValues(), Array(layout.slots.indices))
            }
        } else {
            throw CocoaError(.coreData, "The batch insertion has no rows: set objects or a handler.")
        }
    }
}
