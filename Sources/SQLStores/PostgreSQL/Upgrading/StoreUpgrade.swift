import CoreDataErrors
import Foundation
import ManagedObjects

/// Gives the tables of an existing store the form that a new store of the same model has: free space in pages, keys, indexes, views
/// and triggers. Rows stay as they are.
///
/// Others may use a store in PostgreSQL during the upgrade. Each step is complete or has no effect, and an upgrade that was
/// interrupted is resumed by running it again. The tables of a store in a file have the form of Core Data in every version: there
/// are no steps.
package struct StoreUpgrade {
    package let url: URL
    /// Nil for the model that is cached in the store.
    let model: NSManagedObjectModel?
    /// Called before each step with its description, its number from 0, and the number of all.
    package var willBegin: ((_ summary: String, _ index: Int, _ count: Int) -> Void)?
    /// Called with the completed part of all steps, from 0 to 1.
    package var didComplete: ((_ fraction: Double) -> Void)?
    /// Called repeatedly while a step runs. A task that is cancelled ends the upgrade too.
    package var isCancelled: (() -> Bool)?

    /// The upgrade of the store at a location.
    ///
    /// - Parameter model: The model of the store's version; nil for the one that is cached in the store.
    package init(url: URL, model: NSManagedObjectModel? = nil) { (self.url, self.model) = (url, model) }

    /// What an upgrade does.
    package struct Plan {
        package struct Step {
            /// What changes.
            package let summary: String
            package let statements: [String]
        }

        package let steps: [Step]
        /// Differences from a new store that no step removes, as sentences.
        package let remaining: [String]
    }

    /// The steps that the store needs; none if it has the form of a new one.
    ///
    /// - Throws: Code 260 if there is no store, 134100 if the model is not that of its version, 513 if the user may not create a
    ///   schema, in which the server is asked for the form of a new store, and errors of the server.
    package func plan() throws -> Plan {
        #if PostgreSQL
            if !url.isFileURL {
                let plan = try PostgreSQLUpgrade(self).plan()
                return Plan(
                    steps: plan.steps.map { Plan.Step(summary: $0.summary, statements: $0.statements) },
                    remaining: plan.remaining)
            }
        #endif
        return Plan(steps: [], remaining: [])
    }

    /// Executes the steps.
    ///
    /// - Throws: As ``plan()``; code 3072 if it is cancelled, and 134090 if transactions of others keep a table so long that a
    ///   step cannot begin. The steps before are done.
    package func run() throws {
        #if PostgreSQL
            if !url.isFileURL { try PostgreSQLUpgrade(self).run() }
        #endif
    }
}
