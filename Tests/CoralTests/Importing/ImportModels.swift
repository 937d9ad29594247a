import Coral

/// Models for tests of importing: orders with lines that are unique per order, customers, a subentity.
enum ShopModel {
    static func make() -> NSManagedObjectModel {
        let party = WebModel.entity("Party", [("code", .stringAttributeType), ("name", .stringAttributeType)])
        party.isAbstract = true
        party.userInfo = ["coral.identity": "code"]
        let customer = WebModel.entity("Customer", [("points", .integer16AttributeType)])
        party.subentities = [customer]
        let order = WebModel.entity("Order", [("changed", .dateAttributeType), ("total", .decimalAttributeType)])
        order.properties.append(WebModel.attribute("number", .integer64AttributeType, optional: false))
        order.userInfo = ["coral.identity": "number", "coral.newer": "changed"]
        let line = WebModel.entity(
            "Line",
            [
                ("position", .integer32AttributeType), ("text", .stringAttributeType), ("weight", .doubleAttributeType),
                ("ratio", .floatAttributeType), ("isGift", .booleanAttributeType), ("id", .UUIDAttributeType),
                ("picture", .binaryDataAttributeType), ("link", .URIAttributeType),
            ])
        line.userInfo = ["coral.identity": "order, position"]
        let label = WebModel.entity("Label", [("word", .stringAttributeType), ("colour", .stringAttributeType)])
        label.uniquenessConstraints = [["word"]]
        let remark = WebModel.entity("Remark", [("text", .stringAttributeType), ("stars", .integer16AttributeType)])
        relate(
            order, "lines", isToMany: true, isOrdered: true, line, "order", isToMany: false, rule: .cascadeDeleteRule)
        relate(customer, "orders", isToMany: true, order, "customer", isToMany: false)
        relate(order, "labels", isToMany: true, label, "orders", isToMany: true)
        relate(order, "remarks", isToMany: true, remark, "order", isToMany: false)
        let model = NSManagedObjectModel()
        model.entities = [party, customer, order, line, label, remark]
        return model
    }

    private static func relate(
        _ one: NSEntityDescription, _ name: String, isToMany: Bool, isOrdered: Bool = false,
        _ other: NSEntityDescription,
        _ back: String, isToMany backToMany: Bool, rule: NSDeleteRule = .nullifyDeleteRule
    ) {
        let there = relationship(name, to: other, isToMany: isToMany)
        let back = relationship(back, to: one, isToMany: backToMany)
        there.isOrdered = isOrdered
        there.deleteRule = rule
        (there.inverseRelationship, back.inverseRelationship) = (back, there)
        one.properties.append(there)
        other.properties.append(back)
    }

    private static func relationship(
        _ name: String, to destination: NSEntityDescription, isToMany: Bool
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = isToMany ? 0 : 1
        relationship.isOptional = true
        relationship.deleteRule = .nullifyDeleteRule
        return relationship
    }
}

/// A shop in a store in memory, with helpers for tests.
struct Shop {
    let context: NSManagedObjectContext

    init(_ model: NSManagedObjectModel = ShopModel.make()) throws { context = try makeContext(model) }

    func plan(
        _ json: String, entity: String? = nil, _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> ImportPlan<NSManagedObject> {
        var options = ImportOptions()
        change(&options)
        return try context.performAndWait {
            try GraphImporter(into: context, options: options).plan(.data(Data(json.utf8)), entity: entity)
        }
    }

    /// Imports and saves. Returns the summary.
    @discardableResult
    func take(
        _ json: String, entity: String? = nil, _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> String {
        let plan = try plan(json, entity: entity, change)
        try context.performAndWait {
            try plan.apply()
            if context.hasChanges { try context.save() }
        }
        return plan.summary
    }

    func objects(_ entity: String, sortedBy key: String) throws -> [NSManagedObject] {
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
            return try context.fetch(request)
        }
    }

    func texts(_ entity: String, _ key: String) throws -> [String] {
        try objects(entity, sortedBy: key).compactMap { $0.value(forKey: key) as? String }
    }
}
