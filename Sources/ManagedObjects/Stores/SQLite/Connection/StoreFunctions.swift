import Foundation
import GRDB
import SQLStores

/// The SQL functions that the triggers of a Core Data store call. Without them no row of a table with triggers can be
/// written, so every connection registers them.
enum StoreFunctions {
    static func all(collector: DerivedValueCollector) -> [DatabaseFunction] {
        let reporting = names.map { name in
            DatabaseFunction(name, argumentCount: 5) { arguments in
                collector.add(arguments)
                return nil
            }
        }
        return reporting + [now]
    }

    /// The functions that the triggers of a store's derived texts call, under the names that the triggers use.
    ///
    /// A function that a trigger of `canonical:(title)` calls with one argument is the canonical form, whatever
    /// its name.
    static func textFunctions(of catalog: SQLCatalog, schema: SQLSchema) -> [DatabaseFunction] {
        var functions: [String: PredicateFunctions.Name] = [:]
        for entity in schema.entities {
            for case let attribute as NSAttributeDescription in entity.entity.sortedOwnProperties {
                guard let function = Derivation(attribute)?.textFunction else { continue }
                let part = "_\(entity.entity.name ?? "")_\(attribute.name)_"
                for (name, text) in catalog.statements where name.hasPrefix("Z_DA_") && name.contains(part) {
                    for call in text.matches(of: /\b(NSCoreData\w+)\(/) {
                        let called = String(call.1)
                        if !names.contains(called), called != now.name { functions[called] = function }
                    }
                }
            }
        }
        return functions.map { PredicateFunctions.function($1, name: $0) }
    }

    /// The functions that report derived values.
    private static let names = [
        "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
        "NSCoreDataTriggerUpdateAffectedObjectValue",
    ]

    private static let now = DatabaseFunction("NSCoreDataNow", argumentCount: 0) { _ in
        Date().timeIntervalSinceReferenceDate
    }
}

/// The derived values that triggers have written during a transaction.
final class DerivedValueCollector: @unchecked Sendable {  // because it is used only on the writing connection's queue
    struct DerivedValue {
        let number: Int64
        let key: Int64
        let attribute: String
        let value: ColumnValue
    }

    private(set) var values: [DerivedValue] = []

    /// Adds the arguments of a trigger function: table, `Z_ENT`, `Z_PK`, name of the attribute, value.
    func add(_ arguments: [DatabaseValue]) {
        guard arguments.count == 5, let number = Int64.fromDatabaseValue(arguments[1]),
            let key = Int64.fromDatabaseValue(arguments[2]), let name = String.fromDatabaseValue(arguments[3])
        else { return }
        values.append(DerivedValue(number: number, key: key, attribute: name, value: ColumnValue(arguments[4])))
    }

    func removeAll() { values.removeAll(keepingCapacity: true) }
}
