import Foundation
import PredicateLanguage
import Synchronization

/// An order of texts by the rules of the current locale. Foundation's `String.StandardComparator` has only `lexical` here,
/// which is also the order of a descriptor without a comparator.
///
/// ```swift
/// let byName = SortDescriptor(\Trip.name, comparator: .localizedStandard)
/// ```
public struct LocalizedStringComparator: Hashable, Sendable {
    /// The comparison, by the name that Core Data's sort descriptors have for it.
    fileprivate enum Comparison: String { case localized = "localizedCompare:", standard = "localizedStandardCompare:" }
    fileprivate let comparison: Comparison

    /// As a person sorts words.
    public static let localized = LocalizedStringComparator(comparison: .localized)
    /// As the Finder sorts files: case does not count, and numbers in a text are compared as numbers.
    public static let localizedStandard = LocalizedStringComparator(comparison: .standard)
}

extension SortDescriptor {
    /// Creates a descriptor that orders texts by the rules of the current locale.
    public init(
        _ keyPath: any KeyPath<Compared, String> & Sendable, comparator: LocalizedStringComparator,
        order: SortOrder = .forward
    ) {
        let localized =
            switch comparator.comparison {
            case .localized: keyPath.appending(path: \.localizedText)
            case .standard: keyPath.appending(path: \.standardText)
            }
        LocalizedOrder.note(localized, keyPath, comparator.comparison.rawValue)
        // because both of its parts can be sent
        self.init(unsafeBitCast(localized, to: (any KeyPath<Compared, LocalizedText> & Sendable).self), order: order)
    }

    /// Creates a descriptor that orders texts by the rules of the current locale; nil comes first.
    public init(
        _ keyPath: any KeyPath<Compared, String?> & Sendable, comparator: LocalizedStringComparator,
        order: SortOrder = .forward
    ) {
        let localized =
            switch comparator.comparison {
            case .localized: keyPath.appending(path: \.?.localizedText)
            case .standard: keyPath.appending(path: \.?.standardText)
            }
        LocalizedOrder.note(localized, keyPath, comparator.comparison.rawValue)
        // because both of its parts can be sent
        self.init(unsafeBitCast(localized, to: (any KeyPath<Compared, LocalizedText?> & Sendable).self), order: order)
    }
}

/// The key paths of localised descriptors. Foundation's descriptors have no other place for a comparison: their key path leads to a text
/// that compares itself.
enum LocalizedOrder {
    struct Source: @unchecked Sendable {  // because key paths are immutable
        let keyPath: AnyKeyPath
        let selector: String
    }

    private struct Sources: @unchecked Sendable {  // as above
        var byKeyPath: [AnyKeyPath: Source] = [:]
    }

    private static let known = Mutex(Sources())

    /// The key path of the text that a descriptor compares, and the comparison; nil if the descriptor is not localised.
    static func source(of keyPath: AnyKeyPath) -> Source? {
        guard unwrappedType(type(of: keyPath).valueType) == LocalizedText.self else { return nil }
        return known.withLock { $0.byKeyPath[keyPath] }
    }

    fileprivate static func note(_ keyPath: AnyKeyPath, _ source: AnyKeyPath, _ selector: String) {
        let source = Source(keyPath: source, selector: selector)
        known.withLock { $0.byKeyPath[keyPath] = source }
    }
}

/// A text that compares itself with others by a rule.
struct LocalizedText: Comparable {
    let text: String
    fileprivate let comparison: LocalizedStringComparator.Comparison

    static func == (lhs: LocalizedText, rhs: LocalizedText) -> Bool { lhs.order(rhs) == .orderedSame }
    static func < (lhs: LocalizedText, rhs: LocalizedText) -> Bool { lhs.order(rhs) == .orderedAscending }

    private func order(_ other: LocalizedText) -> ComparisonResult {
        SortComparison.compareStrings(text, other.text, by: comparison.rawValue)
    }
}

extension String {
    fileprivate var localizedText: LocalizedText { LocalizedText(text: self, comparison: .localized) }
    fileprivate var standardText: LocalizedText { LocalizedText(text: self, comparison: .standard) }
}
