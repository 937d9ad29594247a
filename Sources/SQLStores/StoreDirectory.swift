import Foundation
import ManagedObjects

/// The stores of this module, which the engine finds by the name of this class.
package final class StoreDirectory: DatabaseStoreClasses {
    package init() {}

    package var classes: [String: any DatabaseStore.Type] {
        var classes: [String: any DatabaseStore.Type] = [NSSQLiteStoreType: SQLiteStore.self]
        #if PostgreSQL
            classes[PostgreSQLStore.typeName] = PostgreSQLStore.self
        #endif
        return classes
    }
}
