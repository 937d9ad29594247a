import CoreData
import GraphDocuments

/// Writes objects in the nested shape: each in full where it is first met, and as a reference after that.
///
/// Memory grows with the number of ids, not with what the objects hold.
struct NestedExport {
    private let session: ExportSession
    private let loader: ObjectLoader
    private let state = State()

    /// What is known of the objects that records have named.
    private final class State {
        var ids: [RecordID: NSManagedObjectID] = [:]
        var written: Set<RecordID> = []
    }

    init(_ session: ExportSession, loader: ObjectLoader) {
        self.session = session
        self.loader = loader
    }

    /// Writes the roots that are not written yet, and all that they embed.
    mutating func write(_ roots: [NSManagedObjectID], to writer: inout any GraphWriter) throws {
        let names = session.recorder.names
        let plan = session.plan
        let walk = NestedWalk(
            depthLimit: plan.shape.depthLimit,
            embeds: { record, relationship in
                guard let entity = plan.model.entitiesByName[record.entity] else { return false }
                return (try? plan.plan(for: entity))?.relationships
                    .contains { $0.name == relationship.name && $0.isEmbedded } ?? false
            },
            willWrite: { [session] _ in try session.checkCancelled() })
        for start in stride(from: 0, to: roots.count, by: loader.batchSize) {
            let batch = Array(roots[start..<min(start + loader.batchSize, roots.count)])
            // Held, so that the walk finds them loaded.
            let objects = try loader.objects(with: batch)
            for id in batch { state.ids[names.name(of: id)] = id }
            _ = try walk.write(batch.map(names.name(of:)), schema: plan.schema, to: &writer, record: record)
            withExtendedLifetime(objects) {}
        }
    }

    /// The record of an id; nil for one that is written already, or that is not there.
    private func record(_ name: RecordID) throws -> GraphRecord? {
        guard !state.written.contains(name), let id = state.ids[name] else { return nil }
        guard let object = try loader.objects(with: [id]).first ?? nil else { return nil }
        let embedded = try embeddedTargets(of: object)
        // Together, since the walk will ask for them one by one.
        let held = try loader.objects(with: embedded.map(\.objectID))
        defer { withExtendedLifetime(held) {} }
        guard let record = try session.records(of: [object], with: loader).first else { return nil }
        for target in embedded { state.ids[session.recorder.names.name(of: target.objectID)] = target.objectID }
        state.ids[name] = nil
        state.written.insert(name)
        session.didWrite(record)
        return record
    }

    private func embeddedTargets(of object: NSManagedObject) throws -> [NSManagedObject] {
        try session.plan.plan(for: object.entity).relationships.filter(\.isEmbedded)
            .flatMap { try session.recorder.targets(of: object, by: $0) }
    }
}
