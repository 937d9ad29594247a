import Foundation

/// The derived attributes of an entity that are computed from the object's own values.
struct OwnDerivations {
    private struct Rule {
        let slot: Int
        let source: Int?
        let derivation: Derivation
    }

    private let rules: [Rule]
    /// The slots of all derived attributes, including those computed by triggers. Values assigned to them are not
    /// written.
    let derivedSlots: Set<Int>

    init(_ entity: NSEntityDescription) {
        var rules: [Rule] = []
        var derived: Set<Int> = []
        for (slot, description) in entity.layout.slots.enumerated() {
            guard let attribute = description.attribute, let derivation = Derivation(attribute) else { continue }
            derived.insert(slot)
            guard derivation.isOwn else { continue }
            let source: Int? =
                switch derivation {
                case .copy(let name), .canonical(let name), .uppercase(let name), .lowercase(let name):
                    entity.layout.slot(named: name)
                default: nil
                }
            rules.append(Rule(slot: slot, source: source, derivation: derivation))
        }
        self.rules = rules
        derivedSlots = derived
    }

    /// The slots that are computed, ascending.
    var slots: [Int] { rules.map(\.slot) }

    /// Computes the values, and returns those that differ from the present ones.
    func apply(to values: inout ContiguousArray<Value>, now: Double) -> [(slot: Int, value: Value)] {
        var changed: [(slot: Int, value: Value)] = []
        for rule in rules {
            let source = rule.source.map { values[$0] } ?? .null
            let value = Self.value(of: rule.derivation, source: source, now: now)
            if !value.isSame(as: values[rule.slot]) { changed.append((rule.slot, value)) }
            values[rule.slot] = value
        }
        return changed
    }

    /// The value of a derivation from a value of the same row.
    static func value(of derivation: Derivation, source: Value, now: Double) -> Value {
        switch derivation {
        case .now: return .real(now)
        case .copy: return source
        default: return text(of: derivation, source: source)
        }
    }

    /// The text of a derivation from another text, of the same row or of another one.
    static func text(of derivation: Derivation, source: Value) -> Value {
        guard case .string(let text) = source else { return .null }
        switch derivation.textFunction {
        case .canonical:
            return .string(text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil))
        case .uppercase: return .string(text.uppercased())
        case .lowercase: return .string(text.lowercased())
        default: return .null
        }
    }
}
