import Coral

/// A store of a model with everything that a plain database represents in its own way: subentities with properties of
/// one name, ordered relationships, a relationship that is its own inverse, one-to-one relationships, and names that
/// are words of Swift or SQL.
final class AccountsStore {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    var path: String { folder.appendingPathComponent("Accounts.sqlite").path }
    static let token = UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF") ?? UUID()

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            func make(_ entity: String, _ values: [String: Any]) throws -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                // Saved one after the other, so that primary keys have the same order.
                try context.save()
                return object
            }
            let first = try make(
                "Account",
                [
                    "name": "Ada's \"account\"", "class": true, "createdAt": Date(timeIntervalSince1970: 1.25),
                    "balance": NSDecimalNumber(string: "12.34"), "token": Self.token,
                    "site": URL(string: "https://example.com/a?b&c") as Any, "ratio": Float(0.1),
                    "photo": Data([0, 1, 255]),
                ])
            let premium = try make("PremiumAccount", ["name": "Premium", "level": 7])
            let trial = try make("TrialAccount", ["name": "Trial", "level": "two", "parent": premium])
            let labels = try ["z", "a", "m"].map { try make("Data", ["id": $0, "type": "label"]) }
            first.setValue(NSOrderedSet(array: [trial, premium]), forKey: "children")
            first.setValue(NSSet(array: [first, premium]), forKey: "friends")
            first.setValue(NSOrderedSet(array: labels), forKey: "labels")
            trial.setValue(NSOrderedSet(array: [labels[1]]), forKey: "labels")
            first.setValue(labels[2], forKey: "profile")
            try context.save()
        }
        try coordinator.remove(store)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func file(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private static func model() -> NSManagedObjectModel {
        func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            entity.properties = attributes.map { name, type in
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, name != "name")
                return attribute
            }
            return entity
        }
        func connect(
            _ one: NSEntityDescription, _ name: String, _ other: NSEntityDescription, _ back: String,
            toMany: (Bool, Bool), ordered: (Bool, Bool) = (false, false)
        ) {
            let (there, here) = (NSRelationshipDescription(), NSRelationshipDescription())
            for (relationship, name, destination, isToMany, isOrdered) in [
                (there, name, other, toMany.0, ordered.0), (here, back, one, toMany.1, ordered.1),
            ] {
                (relationship.name, relationship.destinationEntity, relationship.isOptional) = (name, destination, true)
                (relationship.maxCount, relationship.isOrdered) = (isToMany ? 0 : 1, isOrdered)
            }
            (there.inverseRelationship, here.inverseRelationship) = (here, there)
            one.properties.append(there)
            other.properties.append(here)
        }
        let account = entity(
            "Account",
            [
                ("name", .stringAttributeType), ("class", .booleanAttributeType), ("createdAt", .dateAttributeType),
                ("createdat", .stringAttributeType), ("balance", .decimalAttributeType), ("token", .UUIDAttributeType),
                ("site", .URIAttributeType), ("ratio", .floatAttributeType), ("photo", .binaryDataAttributeType),
            ])
        let premium = entity("PremiumAccount", [("level", .integer64AttributeType)])
        let trial = entity("TrialAccount", [("level", .stringAttributeType)])
        let data = entity("Data", [("id", .stringAttributeType), ("type", .stringAttributeType)])
        account.subentities = [premium, trial]
        connect(account, "children", account, "parent", toMany: (true, false), ordered: (true, false))
        connect(account, "labels", data, "accounts", toMany: (true, true), ordered: (true, false))
        connect(account, "profile", data, "owner", toMany: (false, false))
        let friends = NSRelationshipDescription()
        (friends.name, friends.destinationEntity, friends.isOptional, friends.maxCount) = ("friends", account, true, 0)
        friends.inverseRelationship = friends
        account.properties.append(friends)
        data.uniquenessConstraints = [["id"]]
        let model = NSManagedObjectModel()
        model.entities = [account, premium, trial, data]
        return model
    }
}
