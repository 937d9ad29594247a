import CoreData
import Testing

// Objective-C's runtime finds a Swift class by a bare name where `@objc` gives it one. Elsewhere the bare name is enough.

#if canImport(Darwin)
    @objc(NamedSaga)
#endif
final class NamedSaga: NSManagedObject {}

/// A class that no model names.
final class UnknownSaga: NSManagedObject {}

enum FirstShelf {
    final class TwiceNamed: NSManagedObject {}
}

enum SecondShelf {
    final class TwiceNamed: NSManagedObject {}
}

#if canImport(Darwin)
    @objc(ReversingTransformer)
#endif
final class ReversingTransformer: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? {
        (value as? String).map { Data(String($0.reversed()).utf8) }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { String(String(decoding: $0, as: UTF8.self).reversed()) }
    }
}

/// Classes that models name.
@Suite struct NamedClassesTests {
    private func model(_ className: String) -> NSManagedObjectModel {
        let saga = NSEntityDescription()
        saga.name = "Saga"
        saga.managedObjectClassName = className
        saga.properties = [DiaryModel.attribute("title", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [saga]
        return model
    }

    private func created(_ className: String) throws -> NSManagedObject {
        let diary = try Diary(NSInMemoryStoreType, model: model(className))
        let context = diary.context()
        return context.performAndWait { context.insert("Saga") }
    }

    /// A bare name, and one with the module.
    ///
    /// https://developer.apple.com/documentation/coredata/nsentitydescription/managedobjectclassname
    @Test func entitiesFindTheirClasses() throws {
        #expect(try created("NamedSaga") is NamedSaga)
        #expect(try created(NSStringFromClass(NamedSaga.self)) is NamedSaga)
        #expect(type(of: try created("NoSuchClass")) == NSManagedObject.self)
    }

    /// If two classes have one name, the name identifies neither. A class in Swift is identified by its name with the module.
    ///
    /// https://developer.apple.com/documentation/coredata/nsentitydescription/managedobjectclassname
    @Test func anAmbiguousNameNamesNoClass() throws {
        #expect(type(of: try created("TwiceNamed")) == NSManagedObject.self)
    }

    /// In Objective-C the entity of such a class is nil: its name is nil, and a request for it has no entity.
    ///
    /// https://developer.apple.com/documentation/coredata/nsmanagedobject/entity()
    @Test func aClassThatNoModelNamesHasNoEntity() throws {
        let diary = try Diary(NSInMemoryStoreType)
        let context = diary.context()
        try context.performAndWait { () throws in
            #expect(UnknownSaga.entity().name == nil)
            let request = UnknownSaga.fetchRequest()
            #expect(request.entityName == nil)
            #expect(throws: (any Error).self) { try context.fetch(request) }
        }
    }

    /// A transformer is found by the name of its class; it need not be registered.
    ///
    /// https://developer.apple.com/documentation/foundation/valuetransformer/init(forname:)
    @Test(arguments: ["ReversingTransformer", NSStringFromClass(ReversingTransformer.self)])
    func transformersAreFoundByTheirClasses(name: String) throws {
        #expect(ValueTransformer(forName: NSValueTransformerName(name)) is ReversingTransformer)
        #expect(try stored("tale" as NSString, transformer: name) == "tale" as NSString)
    }

    /// Xcode's models name the class of the default transformer.
    ///
    /// https://developer.apple.com/documentation/foundation/nssecureunarchivefromdatatransformer
    @Test func theDefaultTransformerIsFoundByItsClass() throws {
        let list = NSArray(array: ["a", "b"])
        #expect(try stored(list, transformer: "NSSecureUnarchiveFromDataTransformer") == list)
    }

    /// A value as it is read from a store by another context.
    private func stored<Value: NSObject>(_ value: Value, transformer: String) throws -> Value? {
        let content = DiaryModel.attribute("content", .transformableAttributeType)
        content.valueTransformerName = transformer
        let model = model("NSManagedObject")
        model.entities[0].properties += [content]
        let diary = try Diary(model: model)
        let context = diary.context()
        try context.performAndWait { () throws in
            _ = context.insert("Saga", ["content": value])
            try context.save()
        }
        let other = diary.context()
        return try other.performAndWait { try other.all("Saga").first?.value(forKey: "content") as? Value }
    }
}
