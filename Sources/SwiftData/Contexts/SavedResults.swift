import CoreData
import Foundation
import ManagedObjects
import ModelFiles

/// The results of a fetch by saved values. The store finds them alone, unless Swift must evaluate a condition or an order: then they
/// are found in a context of their own, whose models have no unsaved values. The caller takes the same rows in its context.
///
/// Cost: the rows that the store selects are read for the other context, and the results once more.
struct SavedResults<T: PersistentModel> {
    private let descriptor: FetchDescriptor<T>
    private let context: ModelContext

    init(_ descriptor: FetchDescriptor<T>, in context: ModelContext) {
        (self.descriptor, self.context) = (descriptor, context)
    }

    /// The IDs of the results, in their order.
    func objectIDs(includesSubclasses: Bool) throws -> [NSManagedObjectID] {
        let other = ModelContext(context.container)
        // A model equals itself only. So those that the predicate has captured stand for their rows in the other context too.
        let captured = descriptor.predicate.map { capturedModels(in: $0.expression) } ?? []
        var objects: [ModelObject] = []
        for model in captured {
            guard model.modelContext === context, let id = model._record?.object?.objectID, !id.isTemporaryID,
                let object = other.managedContext.object(with: id) as? ModelObject
            else { continue }
            object.model = model
            objects.append(object)
        }
        // The models must not hear of the end of the other context.
        defer { for object in objects { object.model = nil } }
        var fetch = ModelFetch(descriptor, in: other)
        fetch.includesSubclasses = includesSubclasses
        return try fetch.models().compactMap { $0._record?.object?.objectID }
    }

    /// The models among the values of a predicate.
    private func capturedModels(in expression: Any) -> [any PersistentModel] {
        var found: [any PersistentModel] = []
        var pending: [Any] = [expression]
        while let next = pending.popLast() {
            if type(of: next) is AnyClass {
                if let model = next as? any PersistentModel { found.append(model) }
            } else if StoredPrimitive.of(type(of: next)) == nil {
                for child in Mirror(reflecting: next).children { pending.append(child.value) }
            }
        }
        return found
    }
}
