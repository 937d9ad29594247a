import Foundation
import PredicateLanguage
import Testing

@testable import SwiftData

/// A model without macros, which need a trait.
private final class Entry: PersistentModel {
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "number", keypath: \Entry.number), .init(name: "maybe", keypath: \Entry.maybe),
            .init(name: "other", keypath: \Entry.other),
            .init(name: "text", keypath: \Entry.text), .init(name: "flag", keypath: \Entry.flag),
            .init(name: "kind", keypath: \Entry.kind), .init(name: "state", keypath: \Entry.state),
            .init(name: "owner", keypath: \Entry.owner),
            .init(
                name: "parts", keypath: \Entry.parts, metadata: Schema.Relationship(inverse: \Entry.owner)),
        ]
    }

    var persistentBackingData: any BackingData<Entry>
    init(backingData: any BackingData<Entry>) { persistentBackingData = backingData }

    enum Kind: String, Codable { case a, b }
    enum State: Codable { case on, off }

    var number: Int { getValue(forKey: \.number) }
    var maybe: Int? { getValue(forKey: \.maybe) }
    var other: Int? { getValue(forKey: \.other) }
    var text: String { getValue(forKey: \.text) }
    var flag: Bool { getValue(forKey: \.flag) }
    var kind: Kind { getValue(forKey: \.kind) }
    var state: State { getValue(forKey: \.state) }
    var owner: Entry? { getValue(forKey: \.owner) }
    var parts: [Entry] { getValue(forKey: \.parts) }
}

private struct Limits: Codable {
    var least: Int
    var most: Int?
    var name = "n"
}

/// What a predicate captures: a part of a text is not `Codable`, as a value that it captures by itself must be.
private struct Beginning: Codable {
    var length: Int
    var text: Substring { "text".prefix(length) }
}

@Suite("Predicates are translated once for each shape")
struct PredicateTranslationTests {
    private let translations = PredicateTranslations()

    /// Translates predicates, and compares each translation with one that was made for its values.
    private func translate(_ predicates: [Predicate<Entry>]) {
        for (number, predicate) in predicates.enumerated() {
            let (found, made) = (translations.translation(of: predicate), TranslatedPredicate(predicate))
            #expect(found.condition == made.condition, "predicate \(number)")
            #expect(found.isComplete == made.isComplete && found.missing == made.missing, "predicate \(number)")
            #expect(found.condition != nil, "predicate \(number): \(found.missing ?? "")")
        }
    }

    @Test("Other captured values need no other translation")
    func values() {
        func values(_ number: Int) -> Predicate<Entry> {
            let (text, kind, limits) = (
                "t\(number)", number.isMultiple(of: 2) ? Entry.Kind.a : .b, Limits(least: number)
            )
            return #Predicate {
                $0.number >= number && $0.text.starts(with: text) && $0.kind == kind && $0.number > limits.least
            }
        }
        func collections(_ number: Int) -> Predicate<Entry> {
            let (range, several) = (number...number + 3, [number, 7])
            return #Predicate { range.contains($0.number) || several.contains($0.number) }
        }
        func parts(_ number: Int) -> Predicate<Entry> {
            let text = "t\(number)"
            return #Predicate { entry in
                entry.parts.contains { $0.number + number > 3 && $0.owner?.text != text }
            }
        }
        func filtered(_ number: Int) -> Predicate<Entry> {
            #Predicate { entry in entry.parts.filter { $0.number == number }.count > number }
        }
        for (known, predicate) in [values, collections, parts, filtered].enumerated() {
            translate((0..<50).map(predicate))
            #expect(translations.count == known + 1)
            let condition = translations.translation(of: predicate(1234)).condition.map { "\($0)" } ?? ""
            #expect(condition.contains("1234") && !condition.contains("captured"))
        }
    }

    @Test("What a value decides is part of the shape: nil, truth, an empty text, elements that are nil")
    func decisions() {
        func maybe(_ value: Int?) -> Predicate<Entry> { #Predicate { $0.maybe == value } }
        func text(_ value: String) -> Predicate<Entry> { #Predicate { $0.text.contains(value) && $0.number > 1 } }
        func flag(_ value: Bool) -> Predicate<Entry> { #Predicate { value || $0.flag == value } }
        func member(_ values: [Int?]) -> Predicate<Entry> { #Predicate { values.contains($0.maybe) } }
        func contiguous(_ values: ContiguousArray<Int?>) -> Predicate<Entry> {
            #Predicate { values.contains($0.maybe) }
        }
        func least(_ limits: Limits) -> Predicate<Entry> { #Predicate { $0.maybe == limits.most } }
        translate([maybe(1), maybe(nil), maybe(2), maybe(nil)])
        translate([text("a"), text(""), text("b"), text("")])
        translate([flag(true), flag(false), flag(true), flag(false)])
        translate([member([1, nil]), member([1]), member([nil]), member([]), member([2, nil])])
        translate([contiguous([1, nil]), contiguous([1]), contiguous([nil]), contiguous([2, nil])])
        translate([least(Limits(least: 1)), least(Limits(least: 1, most: 2)), least(Limits(least: 2, most: 3))])
        #expect(translations.count == 12)
    }

    /// Swift's own: every text contains and begins with the empty one. Only `String` and `Substring` may conform to
    /// `StringProtocol`, as its documentation says.
    @Test("An empty part of a text is found in every text, as an empty text is")
    func emptyParts() {
        func contains(_ value: Beginning) -> Predicate<Entry> { #Predicate { $0.text.contains(value.text) } }
        func begins(_ value: Beginning) -> Predicate<Entry> { #Predicate { $0.text.starts(with: value.text) } }
        func search(_ value: Beginning) -> Predicate<Entry> {
            #Predicate { $0.text.localizedStandardContains(value.text) }
        }
        for (number, predicate) in [contains, begins, search].enumerated() {
            translate([1, 0, 2, 0].map { predicate(Beginning(length: $0)) })
            #expect(translations.count == 2 * (number + 1))
            #expect(translations.translation(of: predicate(Beginning(length: 0))).condition == .constant(true))
        }
    }

    @Test("Key paths and operators are part of the shape, also where the types are the same")
    func keyPaths() {
        func number(_ keyPath: KeyPath<Entry, Int?> & Sendable, _ value: Int) -> Predicate<Entry> {
            Predicate { entry in
                PredicateExpressions.build_Equal(
                    lhs: PredicateExpressions.build_KeyPath(root: entry, keyPath: keyPath),
                    rhs: PredicateExpressions.build_Arg(value as Int?))
            }
        }
        translate([number(\.maybe, 1), number(\.other, 1), number(\.maybe, 2), number(\.other, 2)])
        #expect(translations.count == 2)
        let value = 3
        translate([
            #Predicate { $0.number < value }, #Predicate { $0.number > value }, #Predicate { $0.number <= value },
            #Predicate { $0.number >= value }, #Predicate { $0.number + value == 3 },
            #Predicate { $0.number - value == 3 }, #Predicate { $0.number * value == 3 },
        ])
        #expect(translations.count == 9)
    }

    @Test("A value that becomes part of the translation is translated each time")
    func fixedValues() {
        func state(_ value: Entry.State) -> Predicate<Entry> { #Predicate { $0.state == value } }
        func constants(_ value: Int) -> Predicate<Entry> { #Predicate { value == 1 || $0.number > value } }
        translate([state(.on), state(.off), state(.on)])
        translate([constants(1), constants(2), constants(1)])
    }

    @Test("A value without a form in SQL is evaluated in memory")
    func foreignValues() throws {
        func isSame(_ identifier: PersistentIdentifier) -> Predicate<Entry> {
            #Predicate { $0.persistentModelID == identifier && $0.number > 0 }
        }
        let foreign = try PersistentIdentifier.identifier(for: "elsewhere", entityName: "Entry", primaryKey: 1)
        translate([isSame(foreign), isSame(foreign)])
        #expect(translations.translation(of: isSame(foreign)).missing != nil)
    }

    @Test("The number of objects of a relationship is counted by the store")
    func counts() {
        let predicates: [Predicate<Entry>] = [
            #Predicate { $0.parts.count == 2 }, #Predicate { $0.parts.isEmpty },
            #Predicate { $0.parts.filter { $0.number > 1 }.count == 1 },
            #Predicate { $0.parts.filter { $0.number > 1 }.isEmpty },
        ]
        for predicate in predicates { #expect(translations.translation(of: predicate).missing == nil) }
    }

    @Test("A deep disjunction is translated in one pass")
    func depth() throws {
        func either<E: StandardPredicateExpression<Bool>>(
            _ found: E, _ entry: PredicateExpressions.Variable<Entry>, _ left: Int
        ) -> any StandardPredicateExpression<Bool> {
            if left == 0 { return found }
            let next = PredicateExpressions.build_Equal(
                lhs: PredicateExpressions.build_KeyPath(root: entry, keyPath: \.number),
                rhs: PredicateExpressions.build_Arg(left))
            return either(PredicateExpressions.build_Disjunction(lhs: found, rhs: next), entry, left - 1)
        }
        let predicate = Predicate<Entry> { entry in
            either(PredicateExpressions.build_Arg(false), entry, 24)
        }
        var comparisons = 0
        // A pass for each branch and its negation would be two to the power of 24.
        translations.translation(of: predicate).condition?.walk { node in
            if case .predicate(.comparison) = node { comparisons += 1 }
        }
        #expect(comparisons == 24)
        #expect(translations.count == 1)
    }
}
