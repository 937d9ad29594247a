import Coral
import SwiftData

extension PersistentModel {
    /// The managed object that has the values of the model, for everything in the toolkit that has no method here: comparisons,
    /// subsets, checks. Change the model and not the object, which informs no observer.
    ///
    /// - Throws: ``ModelToolkitError`` if the model is in no context. Insert it first; it need not be saved.
    public var managedObject: NSManagedObject {
        get throws {
            guard let object = managedRow else {
                throw ModelToolkitError(
                    .noContext, "The model is in no context. Insert it first.", at: Schema.entityName(for: Self.self))
            }
            return object
        }
    }

    /// The context of the model.
    var contextOfToolkit: ModelContext {
        get throws {
            guard let modelContext else {
                throw ModelToolkitError(
                    .noContext, "The context of the model no longer exists.", at: Schema.entityName(for: Self.self))
            }
            return modelContext
        }
    }
}

extension Collection where Element: PersistentModel {
    /// The managed objects of the models, in their order.
    var managedObjects: [NSManagedObject] { get throws { try map { try $0.managedObject } } }

    /// The rules of the container; nil if the collection is empty.
    var rules: ToolkitRules? { get throws { try first.map { try $0.contextOfToolkit.rules } } }
}

extension ModelContext {
    /// The rules of the container's models, checked.
    var rules: ToolkitRules { get throws { try ToolkitRules(container.schema) } }
}
