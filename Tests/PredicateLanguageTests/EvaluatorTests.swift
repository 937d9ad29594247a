import Foundation
import Testing

@testable import PredicateLanguage

/// A subject with a class of its own, as managed objects are.
private final class Person: PredicateSubject {
    let values: [String: Any]

    init(_ values: [String: Any]) {
        self.values = values
    }

    func predicateValue(forKey key: String) throws -> Any? {
        guard let value = values[key] else { throw PredicateEvaluationError(.unknownKey, "No key \(key).") }
        return value
    }
}

@Suite struct EvaluatorTests {
    // Unsafe because of its type only: it is immutable.
    nonisolated(unsafe) static let item: [String: Any] = [
        "name": "Crème Brûlée", "age": 30, "price": Decimal(string: "0.1") as Any, "rate": 2.5, "flag": true,
        "big": Int64(9_007_199_254_740_993), "missing": NSNull(), "born": Date(timeIntervalSinceReferenceDate: 100),
        "id": UUID(uuidString: "3F2504E0-4F89-11D3-9A0C-0305E82C3301") as Any, "data": Data([1, 2]),
        "url": URL(string: "https://example.org/a.html") as Any, "tags": ["red", "Grün", "blue"],
        "set": Set([1, 2, 3]), "nsset": NSSet(array: ["a", "b"]), "ordered": NSOrderedSet(array: [3, 1, 2]),
        "empty": [Int](),
        "items": [
            ["price": 1, "kind": "a", "parts": [["n": 1], ["n": 2]]], ["price": 5, "kind": "b", "parts": [["n": 3]]],
            ["price": 9.5, "kind": "a", "parts": [[String: Int]]()], ["kind": "c", "parts": [[String: Int]]()],
        ] as [[String: Any]],
        "owner": ["name": "Ada", "age": NSNumber(value: 36)] as [String: Any], "number": NSNumber(value: 7),
        "truth": NSNumber(value: true), "string": NSString("ns"), "number64": UInt64.max,
    ]

    @Test(arguments: [
        // Equality and order of every kind.
        "age == 30", "age == 30.0", "30 == age", "age != 31", "age > 29.5", "age >= 30", "age < 31", "age <= 30",
        "flag == YES",
        "flag == 1", "truth == TRUE", "number == 7", "string == 'ns'", "owner.age == 36", "price == 0.1",
        "price > 0.09",
        "rate == 2.5", "big == 9007199254740993", "big != 9007199254740992.0", "big > 9007199254740992.0",
        "number64 == 18446744073709551615", "number64 > age", "born == CAST(100, 'NSDate')", "born < now()",
        "id == CAST('3f2504e0-4f89-11d3-9a0c-0305e82c3301', 'NSUUID')", "data == CAST('AQI=', 'NSData')",
        "url == CAST('https://example.org/a.html', 'NSURL')", "name > 'A'", "name != 3",
        "tags == {'red', 'Grün', 'blue'}",
        "set == {3, 2, 1}", "age BETWEEN {30, 40}", "rate BETWEEN {2.5, 2.5}", "NOT age BETWEEN {31, 40}",
        // Nil.
        "missing == nil", "nil == missing", "NOT missing != nil", "age != nil", "NOT missing == 0", "NOT missing < 1",
        "NOT missing > 1", "NOT missing BEGINSWITH 'a'", "NOT missing MATCHES '.*'", "NOT missing IN {1, 2}",
        "missing.name == nil",
        "NOT missing BETWEEN {1, 2}", "owner.nothing == nil", "NOT missing CONTAINS 'a'", "missing + 1 == nil",
        // Strings.
        "name BEGINSWITH 'Crè'", "NOT name BEGINSWITH 'Cre'", "name BEGINSWITH[d] 'Cre'", "name BEGINSWITH[cd] 'CRE'",
        "name ENDSWITH[cd] 'BRULEE'", "name CONTAINS[c] 'ÈME b'", "NOT name CONTAINS 'x'", "'ème' IN name",
        "'EME' IN[cd] name",
        "name == 'Cre\\u0300me Bru\\u0302le\\u0301e'", "NOT name ==[n] 'Cre\\u0300me Bru\\u0302le\\u0301e'",
        "name CONTAINS 'e\\u0300me'", "name ==[cd] 'creme brulee'", "name !=[c] 'creme brulee'", "name LIKE 'Cr?me*'",
        "name LIKE[cd] '*BRUL*'", "name LIKE '*'", "NOT name LIKE 'Cr?me'", "name LIKE '*è*û*é*'",
        "'a*b' LIKE 'a\\\\*b'",
        "NOT 'axb' LIKE 'a\\\\*b'", "'straße' ==[c] 'STRASSE'", "name MATCHES 'Cr.me.*'", "NOT name MATCHES 'Cr.me'",
        "'ab' MATCHES 'a|ab'", "name MATCHES[cd] 'creme [a-z]+'", "'A1' MATCHES[c] 'a\\\\d'", "NOT 'a\\n' MATCHES 'a'",
        "'b' >[c] 'A'", "'É' ==[cd] 'e'", "'👩‍👩‍👧' LIKE '?'", "name BEGINSWITH ''", "name CONTAINS ''", "name.length == 12",
        // Collections.
        "'red' IN tags", "tags CONTAINS 'red'", "tags CONTAINS[cd] 'GRUN'", "NOT 'x' IN tags", "age IN {29, 30}",
        "age IN set OR YES == 1",
        "2 IN set", "2.0 IN set", "nsset CONTAINS 'a'", "tags[FIRST] == 'red'", "tags[LAST] == 'blue'",
        "tags[SIZE] == 3",
        "tags[1] == 'Grün'", "ordered[0] == 3", "empty[FIRST] == nil", "owner['name'] == 'Ada'", "'Ada' IN owner",
        "tags.@count == 3", "empty.@count == 0", "items.@count == 4", "items.@sum.price == 15.5",
        "items.@avg.price > 5",
        "items.@min.price == 1", "items.@max.price == 9.5", "empty.@sum.self == 0", "empty.@avg.self == nil",
        "set.@max.self == 3",
        "items.@distinctUnionOfObjects.kind == {'a', 'b', 'c'}",

        "items.parts.n == {1, 2, 3}", "items.parts.@count == 3", "missing.@count == 0",
        "ANY items.price > 9", "NOT ANY items.price > 10", "ALL items.kind IN {'a', 'b', 'c'}",
        "NONE items.kind == 'x'",
        "NOT ALL items.price > 0", "ALL empty > 3", "NOT ANY empty > 3", "ANY tags ==[c] 'RED'",
        "SOME items.kind == 'c'",
        "ANY items.parts.n == 3", "ALL tags.length > 2", "ANY age == 30",
        "SUBQUERY(items, $i, $i.price > 3).@count == 2",
        "SUBQUERY(items, $i, $i.kind == 'a' AND $i.price > 3).@sum.price == 9.5",
        "SUBQUERY(items, $i, SUBQUERY($i.parts, $p, $p.n > 1).@count > 0).@count == 2",
        "SUBQUERY(set, $x, $x != 2).@count == 2",
        "({1, 2} UNION {2, 3}) == {1, 2, 3}", "set INTERSECT {2, 9} == {2}", "set MINUS {2} == {1, 3}",
        // Arithmetic and functions.
        "1 / 2 == 0", "1.0 / 2 == 0.5", "7 - 2 - 1 == 4", "2 ** 10 == 1024", "2 ** -1 == 0.5", "2 ** 3 ** 2 == 64",
        "-age == -30",
        "price + 0.2 == 0.3", "age * 2.5 == 75", "9223372036854775807 + 1 > 9223372036854775807", "5 & 4 == 4",
        "~0 == -1",
        "1 << 4 == 16", "7 %% 4 == 3", "modulus:by:(7, 4) == 3", "-9223372036854775808 %% -1 == 0",
        "born + 50 == CAST(150, 'NSDate')",
        "born - CAST(40, 'NSDate') == 60", "abs(-3) == 3", "sqrt(16) == 4", "floor(2.7) == 2", "ceiling(2.1) == 3",
        "floor(-2.1) == -3", "ceiling(-2.9) == -2", "trunc(-2.9) == -2", "trunc(2.9) == 2", "ln(1) == 0",
        "log(100) == 2", "exp(0) == 1",
        "max(1, 5, 3) == 5", "sum({1, 2}) == 3", "average({1, 2}) == 1.5", "median({3, 1, 2}) == 2",
        "stddev({1, 3}) == 1",
        "mode({1, 2, 2}) == {2}", "count(tags) == 3", "uppercase(name) == 'CRÈME BRÛLÉE'", "lowercase('ÄB') == 'äb'",
        "canonical:(name) == 'creme brulee'", "length(name) == 12", "random(10) < 10", "random() < 1",
        "noindex(age) == 30",
        "CAST('12', 'NSNumber') == 12", "CAST(12, 'NSString') == '12'", "CAST('0.10', 'NSDecimalNumber') == price",
        "CAST(born, 'NSNumber') == 100", "FUNCTION(name, 'hasPrefix:', 'Cr') == YES", "FUNCTION(name, 'length') == 12",
        "FUNCTION(born, 'timeIntervalSinceDate:', CAST(90, 'NSDate')) == 10", "name hasPrefix: 'Cr'",
        "name isEqual: name",
        "FUNCTION(owner, 'valueForKeyPath:', 'name') == 'Ada'", "TERNARY(age > 18, 'adult', 'child') == 'adult'",
        "url.host == 'example.org'", "url.pathExtension == 'html'", "born.timeIntervalSinceReferenceDate == 100",
        // Compounds.
        "TRUEPREDICATE", "NOT FALSEPREDICATE", "age == 30 AND (flag == NO OR rate > 2)", "SELF.name == name",
        "SELF == SELF OR YES == YES",
        "age == 30 OR name < 3",
    ])
    func holds(format: String) throws {
        let node = try PredicateParser.parse(format)
        let evaluator = try PredicateEvaluator(node)
        #expect(try evaluator.evaluate(Self.item))
        #expect(try evaluator.evaluate(Self.item as NSDictionary), "as an NSDictionary")
        let negation = try PredicateEvaluator(.not(node))
        #expect(try !negation.evaluate(Self.item))
    }

    @Test(arguments: [
        ("name > 3", PredicateEvaluationError.Code.typeMismatch), ("age BEGINSWITH 'a'", .typeMismatch),
        ("age LIKE '3*'", .typeMismatch),
        ("name BEGINSWITH 3", .typeMismatch), ("age IN 3", .typeMismatch), ("age CONTAINS 3", .typeMismatch),
        ("age BETWEEN {1}", .typeMismatch), ("age BETWEEN 3", .typeMismatch), ("3 IN name", .typeMismatch),
        ("name MATCHES '('", .badPattern), ("name MATCHES 'a)|(b'", .badPattern), ("name == $x", .unboundVariable),
        ("name.nothing == 1", .unknownKey), ("items.@foo.price == 1", .unknownKey), ("age.@count == 1", .typeMismatch),
        ("age / 0 == 1", .arithmetic), ("age %% 0 == 1", .arithmetic), ("name + 1 == 1", .typeMismatch),
        ("tags[9] == 1", .typeMismatch),
        ("tags[-1] == 1", .typeMismatch), ("ANYKEY == 1", .unknownKey),
        ("FUNCTION(name, 'foo:', 1) == 1", .unknownFunction),
        ("CAST(age, 'NSView') == 1", .unknownFunction), ("sqrt(name) == 1", .typeMismatch),
        ("uppercase(age) == ''", .typeMismatch),
        ("SUBQUERY(age, $x, $x == 1).@count == 1", .typeMismatch), ("rate & 1 == 1", .typeMismatch),
        ("distanceToLocation:fromLocation:(age, age) == 1", .unknownFunction), ("items.@max.self > 1", .typeMismatch),
    ])
    func failureIsAnError(format: String, code: PredicateEvaluationError.Code) throws {
        let node = try PredicateParser.parse(format)
        let error = #expect(throws: PredicateEvaluationError.self) {
            try PredicateEvaluator(node).evaluate(Self.item)
        }
        #expect(error?.code == code, "\(String(describing: error))")
        #expect(error?.place == node.predicateFormat)
    }

    @Test func variablesAreBoundOrSubstituted() throws {
        let node = try PredicateParser.parse("name == $name AND SUBQUERY(items, $i, $i.price > $least).@count == $n")
        #expect(node.variables == ["name", "least", "n"])
        let values: [String: Any?] = ["name": "Crème Brûlée", "least": 3, "n": 2]
        #expect(try PredicateEvaluator(node).evaluate(Self.item, variables: values))
        let substituted = node.substitutingVariables(values.merging(["i": "not this one"]) { $1 })
        #expect(substituted.variables.isEmpty)
        #expect(try PredicateEvaluator(substituted).evaluate(Self.item))
        #expect(
            substituted.predicateFormat
                == "name == \"Crème Brûlée\" AND SUBQUERY(items, $i, $i.price > 3).@count == 2")
        let missing = try PredicateParser.parse("missing == $x")
        #expect(try PredicateEvaluator(missing).evaluate(Self.item, variables: ["x": nil]))
        #expect(missing.substitutingVariables(["x": nil]).predicateFormat == "missing == nil")
    }

    @Test func objectsAreEqualByIdentity() throws {
        let ada = Person(["name": "Ada", "friends": [Person]()])
        let bob = Person(["name": "Bob", "friends": [ada]])
        let node = try PredicateParser.parse(
            "ANY friends == %@ AND %@ IN friends AND SELF IN %@", arguments: [ada, ada, [bob]])
        #expect(try PredicateEvaluator(node).evaluate(bob))
        #expect(try !PredicateEvaluator(node).evaluate(ada))
        #expect(
            try PredicateEvaluator(PredicateParser.parse("ANY friends.name BEGINSWITH 'A'")).filter([ada, bob]).first
                === bob)
        #expect(throws: PredicateEvaluationError.self) {
            try PredicateEvaluator(PredicateParser.parse("nothing == 1")).evaluate(ada)
        }
    }

    @Test func plainValuesMayBeSubjects() throws {
        let node = try PredicateParser.parse("SELF BEGINSWITH[c] 'a'")
        #expect(try PredicateEvaluator(node).filter(["Ada", "Bob", "alan"]) == ["Ada", "alan"])
        #expect(try PredicateEvaluator(PredicateParser.parse("SELF > 2")).filter([1, 2, 3]) == [3])
    }

    @Test func expressionsHaveValues() throws {
        let value = { (format: String) in
            try ExpressionEvaluator(PredicateParser.parseExpression(format)).value(for: Self.item)
        }
        #expect(try value("items.@count") as? Int64 == 4)
        #expect(try value("canonical:(name)") as? String == "creme brulee")
        #expect(try value("1 + 2 * 3") as? Int64 == 7)
        #expect(try value("items.@avg.price") as? Double == 15.5 / 3)
        #expect(try value("missing") == nil)
        #expect(try value("now()") is Date)
    }

    @Test func treesTooDeepToEvaluateAreAnError() throws {
        var node = try PredicateParser.parse("age == 30")
        for _ in 0..<500 { node = .and([node, .constant(true)]) }
        #expect(try PredicateEvaluator(node).evaluate(Self.item))
        for _ in 0..<500 { node = .not(node) }
        let error = #expect(throws: PredicateEvaluationError.self) { try PredicateEvaluator(node) }
        #expect(error?.code == .tooDeep)
    }

    @Test func numbersAreComparedWithoutLoss() {
        let numbers: [(PredicateValue, PredicateValue, Order)] = [
            (.integer(.max), .double(0x1p63), .ascending), (.integer(.min), .double(-0x1p63), .same),
            (.integer(9_007_199_254_740_993), .double(9_007_199_254_740_992), .descending),
            (.integer(0), .double(.nan), .unordered),
            (.integer(-1), .double(-0.5), .ascending), (.decimal(Decimal(Int64.max)), .integer(.max), .same),
            (.decimal(Decimal(string: "0.1") ?? 0), .double(0.1), .same), (.decimal(1), .double(.infinity), .ascending),
            (.decimal(0), .double(0), .same), (.decimal(0), .double(.leastNonzeroMagnitude), .ascending),
            (.bool(true), .double(1), .same),
        ]
        for (left, right, order) in numbers {
            #expect(PredicateValue.compareNumbers(left, right) == order)
            #expect(PredicateValue.compareNumbers(right, left) == order.reversed)
            #expect((left == right) == (order == .same))
            if order == .same { #expect(left.hashValue == right.hashValue) }
        }
    }
}
