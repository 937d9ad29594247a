import CoreData

/// Values by the IDs of objects; see `ObjectIDKey`.
struct ObjectIDTable<Value>: ExpressibleByDictionaryLiteral {
    private var values: [ObjectIDKey: Value]

    init(dictionaryLiteral elements: (NSManagedObjectID, Value)...) {
        values = Dictionary(elements.map { (ObjectIDKey($0.0), $0.1) }, uniquingKeysWith: { $1 })
    }

    subscript(id: NSManagedObjectID) -> Value? {
        get { values[ObjectIDKey(id)] }
        set { values[ObjectIDKey(id)] = newValue }
    }
}
