import Foundation

import class FoundationAdditions.NSCompoundPredicate
import class FoundationAdditions.NSPredicate

@testable import FoundationAdditions
@testable import ManagedObjects

/// Generates predicates of every kind for `QueryModel`, deterministic for a seed.
struct PredicateGenerator {
    /// A small generator with a seed, so that a failure can be repeated.
    struct Randomness: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            var value = state
            value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
            return value ^ (value >> 31)
        }
    }

    var random: Randomness
    /// Objects that predicates may compare with.
    let notes: [NSManagedObject]
    let items: [NSManagedObject]

    static let words = [
        "", "a", "ab", "abc", "Ab", "äb", "a\u{308}b", "Äb", "ÄB", "straße", "STRASSE", "日本", "é", "e\u{301}", "e",
        "zz", "0", "10",
        "9", "a*b", "a?b", "x y", "😀", "i", "İ", "K",
    ]

    mutating func word() -> String { Self.words[Int.random(in: Self.words.indices, using: &random)] }
    mutating func number() -> Int { Int.random(in: -2...6, using: &random) }
    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &random)]
    }

    mutating func predicate(depth: Int = 0) -> NSPredicate {
        switch Int.random(in: 0..<(depth < 2 ? 14 : 10), using: &random) {
        case 0, 1: return number(comparedWith: pick(["count", "small", "rank", "price", "parent.count", "cover.size"]))
        case 2, 3: return text(pick(["title", "body", "parent.title", "cover.name", "place.city"]))
        case 4: return property()
        case 5, 6: return members()
        case 7: return expression()
        case 8: return object()
        case 9: return list()
        case 10: return NSCompoundPredicate(notPredicateWithSubpredicate: predicate(depth: depth + 1))
        case 11:
            return NSCompoundPredicate(orPredicateWithSubpredicates: [
                predicate(depth: depth + 1), predicate(depth: depth + 1),
            ])
        default:
            return NSCompoundPredicate(andPredicateWithSubpredicates: [
                predicate(depth: depth + 1), predicate(depth: depth + 1),
            ])
        }
    }

    private mutating func number(comparedWith key: String) -> NSPredicate {
        let operation = pick(["==", "!=", "<", "<=", ">", ">="])
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return NSPredicate(format: "%K \(operation) %@", key, Double(number()) + 0.5)
        case 1: return NSPredicate(format: "%K \(pick(["==", "!="])) nil", key)
        case 2: return NSPredicate(format: "%K \(operation) %K", key, pick(["count", "small", "rank"]))
        default: return NSPredicate(format: "%K \(operation) %@", key, number())
        }
    }

    private mutating func text(_ key: String) -> NSPredicate {
        let operation = pick([
            "==", "!=", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "<", ">=", "IN", "MATCHES",
        ])
        let isOrder = operation == "<" || operation == ">="
        let key = isOrder && ["body", "cover.name"].contains(key) ? "title" : key
        let options = pick(["", "", "[c]", "[d]", "[cd]"])
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return NSPredicate(format: "%K \(pick(["==", "!="])) nil", key)
        case 1 where operation != "IN" && operation != "MATCHES" && !isOrder:
            return NSPredicate(format: "%K \(operation)\(options) %K", key, pick(["title", "body"]))
        default:
            if operation == "IN" { return NSPredicate(format: "%K IN\(options) %@", key, [word(), word(), word()]) }
            if operation == "MATCHES" {
                return NSPredicate(format: "%K MATCHES\(options) %@", key, pick(["a.*", ".*b", "[a-c]*", "", "ä?b"]))
            }
            if operation == "LIKE" {
                return NSPredicate(
                    format: "%K LIKE\(options) %@", key, pick(["a*", "*b", "?b", "*a*", "", "a\\*b", "ab", "*"]))
            }
            // Composed texts have the same order by bytes as by characters.
            let constant = isOrder ? pick(["", "a", "ab", "b", "Z", "日", "é"]) : word()
            return NSPredicate(format: "%K \(operation)\(isOrder ? "" : options) %@", key, constant)
        }
    }

    private mutating func property() -> NSPredicate {
        let date = Date(timeIntervalSinceReferenceDate: Double(number()) * 1000.25)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return NSPredicate(format: "createdAt \(pick(["<", ">=", "==", "!="])) %@", date)
        case 1: return NSPredicate(format: "isPinned \(pick(["==", "!="])) %@", pick([true, false]))
        case 2: return NSPredicate(format: "identifier \(pick(["==", "!="])) %@", Self.uuid(number()))
        case 3: return NSPredicate(format: "blob == %@", Data([UInt8(clamping: number())]))
        case 4: return NSPredicate(format: "link \(pick(["==", "!="])) %@", Self.link(number()))
        case 5: return NSPredicate(format: "price BETWEEN {%@, %@}", number(), number())
        case 6: return NSPredicate(format: "createdAt < now()")
        default: return NSPredicate(format: "createdAt + 1000 > %@", date)
        }
    }

    private mutating func members() -> NSPredicate {
        let modifier = pick(["ANY", "ALL", "NONE"])
        switch Int.random(in: 0..<22, using: &random) {
        case 14:
            return NSPredicate(
                format: "count:(items.@\(pick(["distinctUnionOfObjects", "unionOfObjects"])).size) == %@", number())
        case 15: return NSPredicate(format: "items.@max.size == nil OR items.@avg.size > %@", number())
        case 16: return NSPredicate(format: "items[SIZE] > %@", number())
        case 17: return NSPredicate(format: "items[0].size == %@", number())
        case 18: return NSPredicate(format: "items[\(pick(["FIRST", "LAST"]))].name == %@", word())
        case 19: return NSPredicate(format: "\(modifier) items.size IN %@", [number(), number()])
        case 20: return NSPredicate(format: "\(modifier) items.size BETWEEN %@", [number(), number() + 2])
        case 21: return NSPredicate(format: "\(modifier) children.title CONTAINS[cd] %@", word())
        case 0: return NSPredicate(format: "\(modifier) items.size \(pick(["==", "<", ">=", "!="])) %@", number())
        case 1: return NSPredicate(format: "\(modifier) items.name \(pick(["==", "BEGINSWITH", "!="])) %@", word())
        case 2: return NSPredicate(format: "\(modifier) items.tags.name == %@", pick(["red", "green", "blue", "none"]))
        case 3: return NSPredicate(format: "items.@count \(pick(["==", ">", "<", "!="])) %@", number())
        case 4: return NSPredicate(format: "items.@sum.size \(pick(["==", ">", "<"])) %@", number())
        case 5:
            return NSPredicate(
                format: "items.@\(pick(["min", "max"])).size \(pick(["==", ">", "<", "!="])) %@", number())
        case 6: return NSPredicate(format: "items.@avg.weight \(pick([">", "<"])) %@", number())
        case 7:
            return NSPredicate(
                format: "SUBQUERY(items, $i, $i.size > %@ AND ANY $i.tags.name == %@).@count \(pick(["==", ">"])) %@",
                number(), pick(["red", "green"]), pick([0, 1, 2]))
        case 8: return NSPredicate(format: "SUBQUERY(items, $i, $i.name == title).@count > 0")
        case 9: return NSPredicate(format: "\(modifier) items == %@", pick(items))
        case 10: return NSPredicate(format: "%@ IN items", pick(items))
        case 11:
            return NSPredicate(
                format: "children.@count > %@ AND \(modifier) children.items.size > %@", number(), number())
        case 12: return NSPredicate(format: "%@ IN items.name", word())
        default: return NSPredicate(format: "\(modifier) items.note.count > small")
        }
    }

    private mutating func expression() -> NSPredicate {
        switch Int.random(in: 0..<17, using: &random) {
        case 8: return NSPredicate(format: "CAST(createdAt, 'NSNumber') > %@", number() * 1000)
        case 9: return NSPredicate(format: "CAST(count, 'NSString') == %@", "\(number())")
        case 10: return NSPredicate(format: "createdAt - CAST(%@, 'NSDate') > 500", number() * 1000)
        case 11: return NSPredicate(format: "FUNCTION(title, 'length') > %@", number())
        case 12: return NSPredicate(format: "modulus:by:(count, 3) == %@", number())
        case 13: return NSPredicate(format: "max({count, small}) >= %@", number())
        case 14:
            return NSPredicate(format: "\(pick(["floor", "ceiling", "trunc", "sqrt", "exp"]))(rank) > %@", number())
        case 15: return NSPredicate(format: "bitwiseAnd:with:(count, small) == %@", number())
        case 16: return NSPredicate(format: "count ** 2 > %@", number())
        case 0: return NSPredicate(format: "count + small > %@", number())
        case 1: return NSPredicate(format: "count * 2 - small <= %@", number())
        case 2: return NSPredicate(format: "count / %@ == %@", pick([2, 3, -2]), number())
        case 3: return NSPredicate(format: "uppercase(title) == %@", word())
        case 4: return NSPredicate(format: "canonical(title) == canonical(body)")
        case 5: return NSPredicate(format: "length(title) > %@", number())
        case 6: return NSPredicate(format: "abs(count) == %@", number())
        default: return NSPredicate(format: "TERNARY(isPinned == YES, count, small) > %@", number())
        }
    }

    private mutating func object() -> NSPredicate {
        switch Int.random(in: 0..<10, using: &random) {
        case 7: return NSPredicate(format: "objectID IN %@", [pick(notes).objectID, pick(notes).objectID])
        case 8: return NSPredicate(format: "NOT SELF IN %@", Set([pick(notes), pick(notes)]))
        case 9: return NSPredicate(format: "cover.entity.name \(pick(["==", "!="])) %@", pick(["Item", "SpecialItem"]))
        case 0: return NSPredicate(format: "parent \(pick(["==", "!="])) %@", pick(notes))
        case 1: return NSPredicate(format: "cover \(pick(["==", "!="])) nil")
        case 2: return NSPredicate(format: "SELF IN %@", [pick(notes), pick(notes), pick(notes)])
        case 3: return NSPredicate(format: "SELF \(pick(["==", "!="])) %@", pick(notes))
        case 4: return NSPredicate(format: "parent IN %@", [pick(notes), pick(notes)])
        case 5: return NSPredicate(format: "cover == %@", pick(items))
        default: return NSPredicate(format: "parent.parent == %@", pick(notes))
        }
    }

    private mutating func list() -> NSPredicate {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return NSPredicate(format: "count IN %@", [number(), number()])
        case 1: return NSPredicate(format: "small IN %@", [Any]())
        case 2: return NSPredicate(format: "rank BETWEEN %@", [number(), number() + 3])
        default: return NSPredicate(format: "count IN %@", (0..<40).map { $0 * 3 })
        }
    }

    static func uuid(_ number: Int) -> UUID {
        UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: number)))
    }

    static func link(_ number: Int) -> URL {
        URL(string: "https://example.org/\(number)") ?? URL(fileURLWithPath: "/")
    }
}
