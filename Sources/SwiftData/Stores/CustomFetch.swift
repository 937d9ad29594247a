import CoreData
import ManagedObjects

/// One fetch of the engine from a ``DataStore``: what the data store does not do is done here, in memory.
struct CustomFetch {
    let store: CustomStore
    let request: NSFetchRequest<any NSFetchRequestResult>
    let context: NSManagedObjectContext

    func result() throws -> [Any] {
        guard let entity = request.entity, let modelClass = entity.companion as? ModelClass else {
            throw DataStoreError.unsupportedFeature
        }
        // The engine's own requests, such as those of imports, have no descriptor.
        let described = (context.userInfo[CustomStore.fetchKey] as? DescribedRequest).flatMap {
            $0.entity === entity ? $0.fetch : nil
        }
        var (objects, isFiltered, isSorted) = try store.objects(
            modelClass, described, limit: request.fetchLimit, offset: request.fetchOffset, context)
        if !request.includesSubentities { objects.removeAll { $0.entity !== entity } }
        let filter = isFiltered && described != nil ? nil : request.predicate
        if let filter {
            filter.allowEvaluation()
            objects.removeAll { !filter.evaluate(with: $0) }
        }
        if !isSorted, let order = request.sortDescriptors, !order.isEmpty {
            objects = (objects as NSArray).sortedArray(using: order).compactMap { $0 as? NSManagedObject }
        }
        if !isFiltered {
            objects.removeFirst(min(max(request.fetchOffset, 0), objects.count))
            if request.fetchLimit > 0 { objects = Array(objects.prefix(request.fetchLimit)) }
        }
        switch request.resultType {
        case .countResultType: return [objects.count]
        case .managedObjectIDResultType: return objects.map(\.objectID)
        case .managedObjectResultType: return objects
        default: throw DataStoreError.unsupportedFeature
        }
    }
}

/// The descriptor of a fetch, for the time of its execution.
final class DescribedRequest {
    let entity: NSEntityDescription
    let fetch: any DescribedFetch

    init(entity: NSEntityDescription, fetch: any DescribedFetch) { (self.entity, self.fetch) = (entity, fetch) }
}
