import CoreData
import Testing

/// Fetches that compare properties with values of another type.
///
/// A number that is compared with a text attribute is converted: CoreDataPlus fetches cars whose plates are texts by
/// `numberPlate IN [9, 10, 11]` and finds three (`test_batchDeleteMarkedForDeletion`,
/// https://github.com/alemar11/CoreDataPlus). A column of the store converts as SQLite defines:
/// https://sqlite.org/datatype3.html#type_conversions_prior_to_comparison. A text that is compared with a date is an exception:
/// https://github.com/magicalpanda/MagicalRecord/issues/696.
@Suite struct ComparedValuesTests {
    private static let types = [NSSQLiteStoreType, NSInMemoryStoreType]

    private static func model() -> NSManagedObjectModel {
        let car = DiaryModel.entity("Car", NSManagedObject.self)
        let driver = DiaryModel.entity("Driver", NSManagedObject.self)
        car.properties = [
            DiaryModel.attribute("plate", .stringAttributeType), DiaryModel.attribute("seats", .integer16AttributeType),
            DiaryModel.attribute("weight", .doubleAttributeType), DiaryModel.attribute("price", .decimalAttributeType),
            DiaryModel.attribute("isSold", .booleanAttributeType), DiaryModel.attribute("built", .dateAttributeType),
            DiaryModel.attribute("serial", .UUIDAttributeType), DiaryModel.attribute("page", .URIAttributeType),
            DiaryModel.attribute("picture", .binaryDataAttributeType),
        ]
        driver.properties = [DiaryModel.attribute("name", .stringAttributeType)]
        DiaryModel.relate(
            driver, "cars", (0, false, .nullifyDeleteRule), car, "driver", (1, false, .nullifyDeleteRule))
        let model = NSManagedObjectModel()
        model.entities = [car, driver]
        return model
    }

    private static let serial = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    /// Cars with the plates 8 to 11, and one more that is not saved, with the plate 12.
    private func garage(_ type: String) throws -> (Diary, NSManagedObjectContext) {
        let diary = try Diary(type, model: Self.model())
        let context = diary.context()
        try context.performAndWait { () throws in
            let driver = context.insert("Driver", ["name": "7"])
            for number in 8...12 {
                if number == 12 { try context.save() }
                let car = context.insert(
                    "Car",
                    [
                        "plate": "\(number)", "seats": number, "weight": Double(number) + 0.5,
                        "price": NSDecimalNumber(string: "\(number).25"), "isSold": number == 9,
                        "built": Date(timeIntervalSinceReferenceDate: Double(number)), "serial": Self.serial,
                        "page": URL(string: "https://example.com/\(number)") as Any, "picture": Data([UInt8(number)]),
                    ])
                if number == 8 { car.setValue(driver, forKey: "driver") }
            }
        }
        return (diary, context)
    }

    private func plates(_ predicate: NSPredicate, _ context: NSManagedObjectContext) throws -> [Int] {
        try context.performAndWait {
            let cars = try context.all("Car", predicate).compactMap { $0.value(forKey: "plate") as? String }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Car")
            request.predicate = predicate
            #expect(try context.count(for: request) == cars.count)
            return cars.compactMap { Int($0) }.sorted()
        }
    }

    /// A number for a text attribute, in every place of a comparison, and in saved and unsaved objects.
    @Test(arguments: types) func aNumberForAText(type: String) throws {
        let (diary, context) = try garage(type)
        defer { withExtendedLifetime(diary) {} }
        #expect(try plates(NSPredicate(format: "plate IN %@", [9, 10, 12]), context) == [9, 10, 12])
        #expect(try plates(NSPredicate(format: "plate IN %@", Set([9, 10])), context) == [9, 10])
        #expect(try plates(NSPredicate(format: "plate IN {9, '11'}"), context) == [9, 11])
        #expect(try plates(NSPredicate(format: "plate == 9"), context) == [9])
        #expect(try plates(NSPredicate(format: "12 == plate"), context) == [12])
        #expect(try plates(NSPredicate(format: "plate != 9"), context) == [8, 10, 11, 12])
        #expect(try plates(NSPredicate(format: "plate == %@", NSNumber(value: 10)), context) == [10])
        #expect(try plates(NSPredicate(format: "driver.name == 7"), context) == [8])
        #expect(try plates(NSPredicate(format: "NOT (plate IN %@)", [9, 10]), context) == [8, 11, 12])
        // The order is that of texts.
        #expect(try plates(NSPredicate(format: "plate < 9"), context) == [8, 10, 11, 12])
        #expect(try plates(NSPredicate(format: "plate BETWEEN {10, 12}"), context) == [10, 11, 12])
    }

    /// A text for a number attribute.
    @Test(arguments: types) func aTextForANumber(type: String) throws {
        let (diary, context) = try garage(type)
        defer { withExtendedLifetime(diary) {} }
        #expect(try plates(NSPredicate(format: "seats == '9'"), context) == [9])
        #expect(try plates(NSPredicate(format: "seats IN %@", ["9", "12"]), context) == [9, 12])
        #expect(try plates(NSPredicate(format: "seats > '10'"), context) == [11, 12])
        #expect(try plates(NSPredicate(format: "weight == '9.5'"), context) == [9])
        #expect(try plates(NSPredicate(format: "price == '10.25'"), context) == [10])
        #expect(try plates(NSPredicate(format: "isSold == '1'"), context) == [9])
        #expect(
            try plates(NSPredicate(format: "SUBQUERY(driver.cars, $car, $car.seats == '8').@count == 1"), context) == [
                8
            ])
    }

    /// The sum of a date and a number is a date; the difference of two dates is a number.
    @Test(arguments: types) func sumsOfDates(type: String) throws {
        let (diary, context) = try garage(type)
        defer { withExtendedLifetime(diary) {} }
        let date = Date(timeIntervalSinceReferenceDate: 10)
        #expect(try plates(NSPredicate(format: "built + 1 == %@", argumentArray: [date]), context) == [9])
        #expect(try plates(NSPredicate(format: "built - 1 > %@", argumentArray: [date]), context) == [12])
        #expect(try plates(NSPredicate(format: "built < now() - 86400"), context) == [8, 9, 10, 11, 12])
        #expect(try plates(NSPredicate(format: "built + seats < now()"), context) == [8, 9, 10, 11, 12])
        #expect(throws: (any Error).self) {
            _ = try plates(NSPredicate(format: "seats + 1 == %@", argumentArray: [date]), context)
        }
    }

    /// Arrays whose elements are optional.
    @Test(arguments: types) func optionalsInArrays(type: String) throws {
        let (diary, context) = try garage(type)
        defer { withExtendedLifetime(diary) {} }
        let texts: [String?] = ["9", nil, "12"]
        let numbers: [Int?] = [9, nil, 12]
        let serials: [UUID?] = [Self.serial, nil]
        #expect(try plates(NSPredicate(format: "plate IN %@", texts), context) == [9, 12])
        #expect(try plates(NSPredicate(format: "seats IN %@", numbers), context) == [9, 12])
        #expect(try plates(NSPredicate(format: "plate IN %@", numbers), context) == [9, 12])
        #expect(try plates(NSPredicate(format: "serial IN %@", serials), context).count == 5)
        let nothing: [String?] = [nil]
        #expect(try plates(NSPredicate(format: "plate IN %@", nothing), context) == [])
    }

    static let mixtures: [(format: String, value: any Sendable)] = [
        ("seats == %@", "nine"), ("seats IN %@", ["9", "nine"]), ("isSold == %@", "YES"),
        ("built == %@", "2001-01-01"), ("built >= %@", "2001-01-01 00:00:00"), ("built IN %@", ["2001-01-01"]),
        ("built == %@", 9), ("serial == %@", serial.uuidString), ("serial IN %@", [serial.uuidString]),
        ("serial != %@", serial.uuidString), ("page == %@", "https://example.com/9"), ("picture == %@", "abc"),
        ("plate == %@", Date()), ("plate == %@", serial), ("plate IN %@", [serial]), ("plate == %@", ["9"]),
        ("driver == %@", "Ada"), ("driver IN %@", ["Ada"]), ("SELF == %@", 1), ("driver.cars.plate == %@", "9"),
        ("driver.cars == %@", 9), ("driver.cars.@count == %@", "many"),
    ]

    /// A comparison of values that can never be equal is an error, not an empty result.
    @Test(arguments: types, mixtures.indices) func mixturesAreErrors(type: String, index: Int) throws {
        let (diary, context) = try garage(type)
        defer { withExtendedLifetime(diary) {} }
        let (format, value) = Self.mixtures[index]
        #expect(throws: (any Error).self, "\(format) \(value)") {
            _ = try plates(NSPredicate(format: format, argumentArray: [value]), context)
        }
        #expect(throws: (any Error).self) { _ = try plates(NSPredicate(format: "plate == seats"), context) }
    }

    /// Batch requests select the same rows.
    @Test func batchRequestsConvertToo() throws {
        let (diary, context) = try garage(NSSQLiteStoreType)
        defer { withExtendedLifetime(diary) {} }
        try context.performAndWait { () throws in
            let update = NSBatchUpdateRequest(entityName: "Car")
            update.predicate = NSPredicate(format: "plate IN %@", [9, 10])
            update.propertiesToUpdate = ["weight": 0]
            update.resultType = .updatedObjectsCountResultType
            #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 2)
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Car")
            request.predicate = NSPredicate(format: "built == %@", "9")
            #expect(throws: (any Error).self) { try context.execute(NSBatchDeleteRequest(fetchRequest: request)) }
        }
    }
}
