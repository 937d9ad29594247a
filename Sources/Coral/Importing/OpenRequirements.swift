/// The objects that lacked required relationships when they were written, in an import that does not hold the whole
/// document. A later record may still set the relationships, so they are checked after the last record.
///
/// The objects include some that are not in the document: those whose destination a record has moved to another object.
struct OpenRequirements<Object: Hashable, Record> {
    private var objects: [ImportRequirement: [Object: Record?]] = [:]

    /// Adds an object that lacks a relationship.
    ///
    /// - Parameter record: The object's record; nil for an object that was changed by the record of another one.
    mutating func add(_ requirement: ImportRequirement, of object: Object, record: Record?) {
        if let known = objects[requirement]?[object], known != nil { return }
        objects[requirement, default: [:]].updateValue(record, forKey: object)
    }

    /// The objects that still lack a relationship, sorted by relationship.
    ///
    /// - Parameter lacking: Returns those of the given objects that lack the relationship now, in order. Called once for each
    ///   relationship.
    func violations<Found>(
        _ lacking: (ImportRequirement, Dictionary<Object, Record?>.Keys) throws -> [(Object, Found)]
    ) rethrows -> [(requirement: ImportRequirement, object: Found, record: Record?)] {
        let sorted = objects.sorted { ($0.key.entity, $0.key.relationship) < ($1.key.entity, $1.key.relationship) }
        return try sorted.flatMap { requirement, records in
            try lacking(requirement, records.keys).map { object, found in
                (requirement, found, records[object].flatMap { $0 })
            }
        }
    }
}
