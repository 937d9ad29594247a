import Coral
import CoralTools

/// The numbers of objects of a store's entities, without those of their subentities.
struct EntityCounts {
    struct Entity: Encodable {
        var name: String
        var count: Int

        enum CodingKeys: String, CodingKey {
            case name = "entity"
            case count
        }
    }

    /// The entities that are not abstract, in the order of their names.
    let counts: [Entity]
    /// The entities whose objects cannot be counted, because the file is damaged.
    let damaged: [String]

    /// Counts the objects of an open store. Cost: a statement for each entity.
    init(_ open: OpenStore) throws { try self.init(open.context, open.model) }

    /// Counts the objects that a context reads. Cost: a statement for each entity.
    ///
    /// - Parameter allowsDamage: Whether entities in damaged parts of the file are listed as damaged instead of throwing an
    ///   error.
    init(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel, allowsDamage: Bool = false) throws {
        let names = model.entities.filter { !$0.isAbstract }.compactMap(\.name).sorted()
        var damaged: [String] = []
        counts = try context.performAndWait {
            try names.compactMap { name in
                let request = NSFetchRequest<any NSFetchRequestResult>(entityName: name)
                request.includesSubentities = false
                do {
                    return Entity(name: name, count: try context.count(for: request))
                } catch {
                    guard allowsDamage, StoreProblem(damage: error) != nil else { throw error }
                    damaged.append(name)
                    return nil
                }
            }
        }
        self.damaged = damaged
    }

    /// The counts by the names of the entities.
    var byName: [String: Int] {
        Dictionary(counts.map { ($0.name, $0.count) }, uniquingKeysWith: { first, _ in first })
    }
}
