import Foundation
import GRDB

/// The SQL functions that the triggers of a Core Data store call. Without them a row of a table with triggers cannot be
/// written at all, so that every connection has them.
enum StoreFunctions {
    static func all(collector: DerivedValueCollector) -> [DatabaseFunction] {
        let tellers = [
            "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
            "NSCoreDataTriggerUpdateAffectedObjectValue",
        ].map { name in
            DatabaseFunction(name, argumentCount: 5) { arguments in
                collector.add(arguments)
                return nil
            }
        }
        return tellers + [now]
    }

    private static let now = DatabaseFunction("NSCoreDataNow", argumentCount: 0) { _ in
        Date().timeIntervalSinceReferenceDate
    }
}

/// Derived values that triggers have written during a transaction.
final class DerivedValueCollector: @unchecked Sendable {  // because only the writing connection's queue touches it
    struct DerivedValue {
        let number: Int64
        let key: Int64
        let attribute: String
        let value: DatabaseValue
    }

    private(set) var values: [DerivedValue] = []

    /// Takes the arguments of a trigger function: table, `Z_ENT`, `Z_PK`, name of the attribute, value.
    func add(_ arguments: [DatabaseValue]) {
        guard arguments.count == 5, let number = Int64.fromDatabaseValue(arguments[1]),
            let key = Int64.fromDatabaseValue(arguments[2]), let name = String.fromDatabaseValue(arguments[3])
        else { return }
        values.append(DerivedValue(number: number, key: key, attribute: name, value: arguments[4]))
    }

    func removeAll() { values.removeAll(keepingCapacity: true) }
}
