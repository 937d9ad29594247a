import CoreData
import Testing

/// The behaviour that programs rely on when filtering and sorting.
@Suite struct PredicateTests {
    private let people: [[String: Any]] = [
        ["name": "Ada", "age": 36, "tags": ["maths", "poetry"]],
        ["name": "Grace", "age": 85, "tags": ["navy"]],
        ["name": "álan", "age": 41, "tags": ["maths"]],
    ]

    private func names(_ predicate: NSPredicate) -> [String] {
        people.filter { predicate.evaluate(with: $0) }.compactMap { $0["name"] as? String }
    }

    /// https://developer.apple.com/documentation/foundation/nspredicate/init(format:argumentarray:)
    @Test func formatsFilter() {
        #expect(names(NSPredicate(format: "age > %d", 40)) == ["Grace", "álan"])
        #expect(names(NSPredicate(format: "name BEGINSWITH[cd] %@", "a")) == ["Ada", "álan"])
        #expect(names(NSPredicate(format: "%K == %@", "name", "Ada")) == ["Ada"])
        #expect(names(NSPredicate(format: "name IN %@", ["Ada", "Grace"])) == ["Ada", "Grace"])
        #expect(names(NSPredicate(format: "ANY tags == 'maths'")) == ["Ada", "álan"])
        #expect(names(NSPredicate(format: "age BETWEEN %@", argumentArray: [[36, 41]])) == ["Ada", "álan"])
        #expect(names(NSPredicate(value: true)).count == 3)
    }

    /// https://developer.apple.com/documentation/foundation/nspredicate/init(format:_:)
    @Test func valuesMayBeCalledArguments() {
        let date = Date(timeIntervalSinceReferenceDate: 10)
        let id = UUID()
        let items: [[String: Any]] = [["at": date, "id": id], ["at": date.addingTimeInterval(1), "id": UUID()]]
        func count(_ predicate: NSPredicate) -> Int { items.filter { predicate.evaluate(with: $0) }.count }
        #expect(count(NSPredicate(format: "at > %@", date as CVarArg)) == 1)
        #expect(count(NSPredicate(format: "id == %@", id as CVarArg)) == 1)
        #expect(count(NSPredicate(format: "id IN %@", [id] as CVarArg)) == 1)
        #expect(count(NSPredicate(format: "at == %@", date as NSDate)) == 1)
        #expect(count(NSPredicate(format: "at != nil AND %K != %@", "id", id as CVarArg)) == 1)
    }

    /// https://developer.apple.com/documentation/foundation/nscomparisonpredicate
    @Test func aFormatGivesTheMatchingPredicateClass() throws {
        let comparison = try #require(NSPredicate(format: "name ==[c] 'ada'") as? NSComparisonPredicate)
        #expect(comparison.leftExpression.keyPath == "name")
        #expect(comparison.rightExpression.constantValue as? String == "ada")
        #expect(comparison.predicateOperatorType == .equalTo)
        #expect(comparison.options == .caseInsensitive)
        let compound = try #require(NSPredicate(format: "age > 1 AND NOT name == nil") as? NSCompoundPredicate)
        #expect(compound.compoundPredicateType == .and)
        #expect(compound.subpredicates.count == 2)
        #expect((compound.subpredicates[1] as? NSCompoundPredicate)?.compoundPredicateType == .not)
    }

    /// https://developer.apple.com/documentation/foundation/nspredicate/predicateformat
    @Test func formatsPrint() {
        #expect(NSPredicate(format: "age>=18 && name!='x'").predicateFormat == #"age >= 18 AND name != "x""#)
        #expect(NSPredicate(value: false).predicateFormat == "FALSEPREDICATE")
    }

    /// `NSNull` is printed as it describes itself, and nil is not: QueryKit, `AttributeTests` and `PredicateTests`,
    /// https://github.com/QueryKit/QueryKit. Swift passes an optional without a value inside `Any` as `NSNull`.
    @Test func nullIsPrinted() throws {
        let null = NSExpression(forConstantValue: NSNull())
        #expect(null.description == "<null>")
        #expect(null.constantValue is NSNull)
        let comparison = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "name"), rightExpression: null, modifier: .direct, type: .equalTo)
        #expect(comparison.predicateFormat == "name == <null>")
        #expect(NSPredicate(format: "name == %@", NSNull()) == comparison)
        #expect(NSExpression(forConstantValue: String?.none as Any).description == "<null>")
        #expect(NSPredicate(format: "name == nil").predicateFormat == "name == nil")
        let data = try NSKeyedArchiver.archivedData(withRootObject: comparison, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPredicate.self, from: data)
        #expect(read?.predicateFormat == "name == <null>")
    }

    /// https://developer.apple.com/documentation/foundation/nscompoundpredicate
    @Test func predicatesJoin() {
        let adult = NSPredicate(format: "age > 40")
        let mathematician = NSPredicate(format: "'maths' IN tags")
        #expect(names(NSCompoundPredicate(andPredicateWithSubpredicates: [adult, mathematician])) == ["álan"])
        #expect(names(NSCompoundPredicate(orPredicateWithSubpredicates: [adult, mathematician])).count == 3)
        #expect(names(NSCompoundPredicate(notPredicateWithSubpredicate: adult)) == ["Ada"])
    }

    /// https://developer.apple.com/documentation/foundation/nspredicate/withsubstitutionvariables(_:)
    @Test func variablesAreReplaced() {
        let template = NSPredicate(format: "name == $NAME")
        #expect(names(template.withSubstitutionVariables(["NAME": "Grace"])) == ["Grace"])
        #expect(template.evaluate(with: people[0], substitutionVariables: ["NAME": "Ada"]))
    }

    /// https://developer.apple.com/documentation/foundation/nspredicate
    @Test func equalPredicatesAreEqual() {
        #expect(NSPredicate(format: "a == 1") == NSPredicate(format: "a = %d", 1))
        #expect(NSPredicate(format: "a == 1") != NSPredicate(format: "a == 2"))
        #expect(Set([NSPredicate(format: "a == 1"), NSPredicate(format: "a = 1")]).count == 1)
    }

    /// https://developer.apple.com/documentation/foundation/nspredicate/init(block:)
    @Test func closuresFilter() {
        let predicate = NSPredicate { object, _ in ((object as? [String: Any])?["age"] as? Int ?? 0) < 40 }
        #expect(names(predicate) == ["Ada"])
        #expect(names(NSCompoundPredicate(notPredicateWithSubpredicate: predicate)).count == 2)
    }

    /// https://developer.apple.com/documentation/foundation/nsarray/filtered(using:)
    @Test func foundationAcceptsPredicates() {
        let predicate = NSPredicate(format: "SELF > 2")
        #expect(NSArray(array: [1, 2, 3, 4]).filtered(using: predicate).count == 2)
        let descriptor = NSSortDescriptor(key: "age", ascending: false)
        let sorted = NSArray(array: people).sortedArray(using: [descriptor])
        #expect(sorted.compactMap { ($0 as? [String: Any])?["name"] as? String } == ["Grace", "álan", "Ada"])
    }

    /// https://developer.apple.com/documentation/foundation/nspredicate
    @Test func userInputNeverStopsTheProgram() {
        #expect(throws: (any Error).self) { try NSPredicate(parsing: "age >") }
        #expect(throws: (any Error).self) { try NSPredicate(parsing: "name MATCHES '['").evaluation(with: people[0]) }
    }

    /// https://developer.apple.com/documentation/foundation/nsexpression
    @Test func expressionsHaveValues() {
        let sum = NSExpression(format: "age + %d", 4)
        #expect((sum.expressionValue(with: people[0], context: nil) as? NSNumber)?.intValue == 40)
        let function = NSExpression(forFunction: "max:", arguments: [NSExpression(forConstantValue: [3, 9, 4])])
        #expect(function.expressionType == .function)
        #expect((function.expressionValue(with: nil, context: nil) as? NSNumber)?.intValue == 9)
        let comparison = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "age"), rightExpression: NSExpression(forConstantValue: 40),
            modifier: .direct, type: .lessThan)
        #expect(comparison.predicateFormat == "age < 40")
        #expect(NSExpression(forVariable: "x").variable == "x")
        #expect(NSExpression.expressionForEvaluatedObject().expressionType == .evaluatedObject)
    }

    /// https://developer.apple.com/documentation/foundation/nssortdescriptor
    @Test func descriptorsCompare() {
        let byName = NSSortDescriptor(key: "name", ascending: true, selector: "localizedCaseInsensitiveCompare:")
        #expect(byName.compare(["name": "b"], to: ["name": "A"]) == .orderedDescending)
        #expect((byName.reversedSortDescriptor as? NSSortDescriptor)?.ascending == false)
        let missing: [String: Any] = [:]
        #expect(NSSortDescriptor(key: "age", ascending: true).compare(missing, to: people[0]) == .orderedAscending)
        #expect(NSSortDescriptor(key: "a", ascending: true) == NSSortDescriptor(key: "a", ascending: true))
    }

    /// A descriptor reads its key as key-value coding does.
    /// https://developer.apple.com/documentation/foundation/nssortdescriptor/compare(_:to:)
    @Test func descriptorsCompareByPaths() {
        let one: [String: Any] = ["name": "Grace", "items": [1, 2, 3], "inner": ["rank": 2]]
        let other: [String: Any] = ["name": "Ada", "items": [9], "inner": ["rank": 10]]
        for (key, expected) in [
            ("items.@count", ComparisonResult.orderedDescending), ("name.length", .orderedDescending),
            ("items.@max.self", .orderedAscending), ("inner.rank", .orderedAscending), ("missing", .orderedSame),
        ] {
            #expect(NSSortDescriptor(key: key, ascending: true).compare(one, to: other) == expected, "\(key)")
            #expect(NSSortDescriptor(key: key, ascending: false).compare(other, to: one) == expected, "\(key)")
            let byClosure = NSSortDescriptor(key: key, ascending: true) { first, second in
                let numbers = [first, second].map { Int("\($0)") ?? 0 }
                return NSNumber(value: numbers[0]).compare(NSNumber(value: numbers[1]))
            }
            if key.hasPrefix("i") { #expect(byClosure.compare(one, to: other) == expected, "\(key)") }
        }
    }

    /// https://developer.apple.com/documentation/foundation/nspredicate/allowevaluation()
    @Test func predicatesAndDescriptorsSurviveAnArchive() throws {
        let predicate = NSPredicate(format: "name BEGINSWITH[cd] %@ AND NOT age IN %@", "a", [1, 2])
        let data = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSCompoundPredicate.self, from: data)
        #expect(read == predicate)
        let descriptor = NSSortDescriptor(key: "name", ascending: false, selector: "caseInsensitiveCompare:")
        let archived = try NSKeyedArchiver.archivedData(withRootObject: descriptor, requiringSecureCoding: true)
        let unarchived = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSSortDescriptor.self, from: archived)
        #expect(unarchived == descriptor)
    }

    /// https://developer.apple.com/documentation/foundation/nspredicate
    @Test func datesAndDecimalsSurviveAnArchive() throws {
        let date = Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_7)
        let decimal = NSDecimalNumber(string: "12.345")
        for value in [date, decimal, NSArray(array: [date, decimal])] as [Any] {
            let expression = NSExpression(forConstantValue: value)
            let predicate = NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: "a"), rightExpression: expression, modifier: .direct,
                type: .equalTo
            )
            let data = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
            #expect(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: NSComparisonPredicate.self, from: data) == predicate)
            let other = try NSKeyedArchiver.archivedData(withRootObject: expression, requiringSecureCoding: true)
            let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSExpression.self, from: other))
            #expect(read == expression)
        }
    }

    private struct Person {
        var name = ""
        var address = Address()
    }

    private struct Address {
        var city = ""
    }

    /// https://developer.apple.com/documentation/foundation/nssortdescriptor
    @Test func keyPathsHaveTheirRegisteredNames() {
        KeyPathRegistry.register(\Person.name, as: "name")
        KeyPathRegistry.register(\Person.address, as: "address")
        KeyPathRegistry.register(\Address.city, as: "city")
        #expect(NSSortDescriptor(keyPath: \Person.name, ascending: true).key == "name")
        #expect(NSExpression(forKeyPath: \Person.address.city).keyPath == "address.city")
        #expect(KeyPathRegistry.name(of: \Person.name.count) == nil)
    }
}

/// The behaviour that transformable attributes rely on.
@Suite struct ValueTransformerTests {
    /// https://developer.apple.com/documentation/foundation/nssecureunarchivefromdatatransformer
    @Test func theDefaultTransformerUnarchivesPlainValuesOnly() throws {
        let transformer = try #require(ValueTransformer(forName: .secureUnarchiveFromDataTransformerName))
        let data = transformer.reverseTransformedValue(NSArray(array: ["a", "b"]))
        #expect(transformer.transformedValue(data) as? [String] == ["a", "b"])
        #expect(transformer.transformedValue(Data("no archive".utf8)) == nil)
    }

    /// https://developer.apple.com/documentation/foundation/valuetransformer/init(forname:)
    @Test func transformersAreFoundByName() throws {
        final class Upper: ValueTransformer {
            override func transformedValue(_ value: Any?) -> Any? { (value as? String)?.uppercased() }
        }
        let name = NSValueTransformerName("Upper")
        #expect(ValueTransformer(forName: name) == nil)
        ValueTransformer.setValueTransformer(Upper(), forName: name)
        #expect(ValueTransformer(forName: name)?.transformedValue("a") as? String == "A")
        #expect(ValueTransformer.valueTransformerNames().contains(name))
        ValueTransformer.setValueTransformer(nil, forName: name)
    }
}
