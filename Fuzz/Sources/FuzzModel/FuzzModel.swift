import CoreData
import Foundation
import FuzzBooks
import FuzzSupport
import ManagedObjects

/// Called by libFuzzer with each input: a predicate that a model brings along, at each place of a model that has predicates or
/// expressions. Objects are then validated, saved, fetched and deleted. Predicates in archives are read by `FuzzCompiledModel`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let data = input(bytes, count)
    guard let place = data.first.map({ Int($0) }), data.count > 1 else { return 0 }
    let format = String(decoding: data.dropFirst(), as: UTF8.self)
    attempt { try use(format, at: place % 5) }
    return 0
}

private func use(_ format: String, at place: Int) throws {
    let model = Books.model()
    guard let book = model.entitiesByName["Book"], let title = book.attributesByName["title"] else { return }
    switch place {
    case 0:
        title.setValidationPredicates([try NSPredicate(parsing: format)], withValidationWarnings: ["is wrong"])
    case 1:
        let property = NSFetchedPropertyDescription()
        property.name = "others"
        property.fetchRequest = NSFetchRequest(entityName: "Book")
        property.fetchRequest?.predicate = try NSPredicate(parsing: format)
        book.properties.append(property)
    case 2:
        let index = NSFetchIndexDescription(
            name: "byTitle", elements: [NSFetchIndexElementDescription(property: title, collationType: .binary)])
        index.partialIndexPredicate = try NSPredicate(parsing: format)
        book.indexes = [index]
    case 3:
        let derived = NSDerivedAttributeDescription()
        (derived.name, derived.attributeType, derived.isOptional) = ("derived", .stringAttributeType, true)
        derived.derivationExpression = try NSExpression(parsing: format)
        book.properties.append(derived)
    default:
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
        request.predicate = try NSPredicate(parsing: format)
        model.setFetchRequestTemplate(request, forName: "template")
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try Books.fill(coordinator, at: URL(fileURLWithPath: "/dev/null"))
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait { change(in: context, model) }
}

/// Everything that evaluates what a model states.
private func change(in context: NSManagedObjectContext, _ model: NSManagedObjectModel) {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
    attempt {
        for book in try context.fetch(request) {
            for key in ["others", "derived"] where book.entity.propertiesByName[key] != nil {
                _ = book.value(forKey: key)
            }
            attempt { try book.validateForUpdate() }
            book.setValue("Another \(book.objectID)", forKey: "title")
        }
    }
    attempt {
        if let template = model.fetchRequestFromTemplate(withName: "template", substitutionVariables: ["NAME": "Ada"]) {
            _ = try context.fetch(template)
        }
    }
    attempt { try context.save() }
    context.rollback()
    attempt { for book in try context.fetch(request) { context.delete(book) } }
    attempt { try context.save() }
}
