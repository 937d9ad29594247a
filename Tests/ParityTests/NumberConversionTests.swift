import CoreData
import Foundation
import Testing

/// Numbers that do not have the type of their attribute. An attribute of integers has the number's `intValue` in the store, one of
/// doubles its `doubleValue`: NSManagedObject, "Transforming attribute values", and NSAttributeType,
/// https://developer.apple.com/documentation/coredata/nsattributetype
@Suite struct NumberConversionTests {
    private static let types: [(name: String, type: NSAttributeType)] = [
        ("short", .integer16AttributeType), ("int", .integer32AttributeType), ("long", .integer64AttributeType),
        ("flag", .booleanAttributeType), ("double", .doubleAttributeType), ("float", .floatAttributeType),
    ]

    private func diary(_ type: String, also others: [NSAttributeDescription] = []) throws -> Diary {
        let model = NSManagedObjectModel()
        let entity = DiaryModel.entity("Sample", NSManagedObject.self)
        entity.properties = Self.types.map { DiaryModel.attribute($0.name, $0.type) } + others
        model.entities = [entity]
        return try Diary(type, model: model)
    }

    /// The values that attributes of all numeric types have after a save, when one value is set for all.
    private func saved(_ value: Any, in type: String, primitive: Bool = false) throws -> [NSNumber?] {
        let diary = try diary(type)
        let context = diary.context()
        return try context.performAndWait {
            let sample = context.insert("Sample")
            for (name, _) in Self.types {
                primitive ? sample.setPrimitiveValue(value, forKey: name) : sample.setValue(value, forKey: name)
                #expect(sample.value(forKey: name) is NSNumber, "\(name)")
            }
            try context.save()
            context.refreshAllObjects()
            return Self.types.map { sample.value(forKey: $0.name) as? NSNumber }
        }
    }

    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func decimalNumbersInOtherAttributes(_ type: String) throws {
        for primitive in [false, true] {
            let values = try saved(NSDecimalNumber(string: "12.75"), in: type, primitive: primitive)
            // A store in memory may keep the number as it is.
            #expect(values.prefix(3).map { $0?.intValue } == [12, 12, 12])
            #expect(values[3]?.boolValue == true)
            #expect(values[4]?.doubleValue == 12.75)
            #expect(values[5]?.floatValue == 12.75)
        }
    }

    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func numbersOfAllTypes(_ type: String) throws {
        for value in [true, Int8(7), UInt16(7), 7, Int64(7), Float(7.5), 7.5, CGFloat(7.5)] as [Any] {
            let values = try saved(value, in: type)
            let expected = (value as? Bool) == true ? 1 : 7
            #expect(values.prefix(3).map { $0?.intValue } == [expected, expected, expected], "\(value)")
            #expect(values[3]?.boolValue == true)
            #expect(values[4]?.intValue == expected)
            #expect(values[5]?.intValue == expected)
        }
    }

    /// A number that no integer is has an `intValue` too, which differs between processors: the program goes on, and a save may
    /// find that the value is too large. Numbers of double precision are kept.
    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func numbersOutOfRange(_ type: String) throws {
        let numbers: [NSNumber] = [
            NSNumber(value: UInt64.max), NSNumber(value: 1e300), NSNumber(value: Double.infinity),
            NSNumber(value: -Double.infinity), NSDecimalNumber(string: "1e127"), NSNumber(value: Double.nan),
            NSDecimalNumber.notANumber,
        ]
        for number in numbers {
            let diary = try diary(type)
            let context = diary.context()
            try context.performAndWait { () throws in
                let sample = context.insert("Sample")
                for (name, _) in Self.types {
                    sample.setValue(number, forKey: name)
                    #expect(sample.value(forKey: name) is NSNumber, "\(name) \(number)")
                    sample.setPrimitiveValue(number, forKey: name)
                }
                try? context.save()
                context.rollback()
                context.reset()
                guard !number.doubleValue.isNaN else { return }
                _ = context.insert("Sample", ["double": number])
                try context.save()
                context.reset()
                let kept = try context.all("Sample", NSPredicate(format: "flag == nil")).first?.value(forKey: "double")
                let (double, expected) = ((kept as? NSNumber)?.doubleValue ?? 0, number.doubleValue)
                #expect(expected.isInfinite ? double == expected : abs(double / expected - 1) < 1e-9, "\(number)")
            }
        }
    }

    @Test func predicatesWithNumbersOutOfRange() throws {
        let diary = try diary(NSSQLiteStoreType)
        let context = diary.context()
        try context.performAndWait { () throws in
            for number in [1, 2] { context.insert("Sample").setValue(number, forKey: "long") }
            func count(_ format: String, _ argument: NSNumber) throws -> Int {
                let predicate = NSPredicate(format: format, argument)
                let unsaved = try context.all("Sample", predicate).count
                try context.save()
                let saved = try context.all("Sample", predicate).count
                #expect(unsaved == saved, "\(predicate)")
                return saved
            }
            for number in [NSNumber(value: Double.infinity), NSNumber(value: 1e300), NSDecimalNumber(string: "1e100")] {
                #expect(try count("long < %@", number) == 2)
                #expect(try count("long > %@", number) == 0)
            }
            #expect(try count("long == %@", NSDecimalNumber(string: "2")) == 1)
            #expect(try count("long < %@", NSDecimalNumber(string: "1.5")) == 1)
            #expect(try count("long == %@", NSNumber(value: Double.nan)) == 0)
        }
    }

    /// A number of single precision is written with its own digits, as its `NSNumber` is.
    @Test func predicatesPrintNumbersOfSinglePrecision() {
        let number = NSExpression(forConstantValue: Float(0.1))
        let predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "price"), rightExpression: number, modifier: .direct,
            type: .equalTo)
        #expect(number.description == "0.1")
        #expect(predicate.predicateFormat == "price == 0.1")
        #expect(NSPredicate(format: "price > %@", NSNumber(value: Float(0.3))).predicateFormat == "price > 0.3")
        #expect(NSPredicate(format: "price > %@", NSNumber(value: 0.3)).predicateFormat == "price > 0.3")
        #expect(predicate.evaluate(with: ["price": Float(0.1)]))
    }
}
