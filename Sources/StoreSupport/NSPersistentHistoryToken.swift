import Foundation
import KeyedArchives

/// A point in the history of one or more stores: for each store, by its UUID, the number of the last transaction before
/// that point.
///
/// A token is archived in the form that Apple's framework uses, so that archives can be exchanged in both directions.
open class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding,
    @unchecked Sendable  // because it is immutable
{
    private static let dictionaryKey = "NSPersistentHistoryTokenDictionary"

    /// Transaction numbers by store UUID.
    package final let numbers: [String: Int64]

    package init(_ numbers: [String: Int64]) {
        _ = Self.isRegistered
        self.numbers = numbers
    }

    /// Creates a token of the point before the first transaction of every store.
    public convenience override init() {
        self.init([:])
    }

    /// The number of the last transaction of a store before this point; nil if the token does not contain the store.
    package final func number(ofStore identifier: String?) -> Int64? {
        identifier.flatMap { numbers[$0] }
    }

    /// A copy of the token in which a store has the given number.
    package final func setting(_ number: Int64, ofStore identifier: String) -> NSPersistentHistoryToken {
        NSPersistentHistoryToken(numbers.merging([identifier: number]) { $1 })
    }

    /// Returns the token itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Two tokens are equal if they contain the same numbers of the same stores.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? NSPersistentHistoryToken)?.numbers == numbers
    }

    open override var hash: Int { numbers.hashValue }

    open override var description: String {
        let list = numbers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "<NSPersistentHistoryToken [\(list.joined(separator: ", "))]>"
    }

    // MARK: - Coding

    open class var supportsSecureCoding: Bool { true }

    /// Decodes a token that ``encode(with:)`` or Apple's framework has encoded; nil if the archive contains something
    /// else.
    public required init?(coder: NSCoder) {
        let allowed: [AnyClass] = [NSDictionary.self, NSString.self, NSNumber.self]
        guard let stored = coder.decodeObject(of: allowed, forKey: Self.dictionaryKey) as? NSDictionary else {
            return nil
        }
        var numbers: [String: Int64] = [:]
        for (key, value) in stored {
            guard let key = key as? String, let value = value as? NSNumber else { return nil }
            numbers[key] = value.int64Value
        }
        self.numbers = numbers
    }

    /// Encodes the numbers by store.
    open func encode(with coder: NSCoder) {
        let pairs = numbers.sorted { $0.key < $1.key }
        let dictionary = NSDictionary(
            objects: pairs.map { NSNumber(value: $0.value) }, forKeys: pairs.map { NSString(string: $0.key) })
        coder.encode(dictionary, forKey: Self.dictionaryKey)
    }

    private static let archivedName = "_NSPersistentHistoryToken"

    /// The token in the archived form that Apple's framework uses.
    final func archive() throws -> Data {
        var builder = KeyedArchiveBuilder()
        let root = builder.reserve()
        let pairs = numbers.sorted { $0.key < $1.key }.map { store, number in
            (key: builder.add(string: store), value: builder.add(value: .integer(number)))
        }
        let dictionary = builder.add(dictionary: pairs)
        builder.fill(
            root, classChain: [Self.archivedName, "NSPersistentHistoryToken", "NSObject"],
            fields: PropertyListDictionary([(Self.dictionaryKey, dictionary)]))
        return try builder.archive(root: root)
    }

    /// Registers the class under its name in archives, once in a process. Foundation finds it by that name only
    /// afterwards.
    package static let isRegistered: Bool = {
        let name = archivedName
        NSKeyedUnarchiver.setClass(NSPersistentHistoryToken.self, forClassName: name)
        NSKeyedUnarchiver.setClass(NSPersistentHistoryToken.self, forClassName: "NSPersistentHistoryToken")
        return true
    }()
}

extension NSKeyedArchiver {
    /// The archive of a history token, in the form that Apple's framework uses. This overload is more specific than
    /// Foundation's method, which writes the class under another name off Apple's platforms.
    public static func archivedData(
        withRootObject object: NSPersistentHistoryToken, requiringSecureCoding requiresSecureCoding: Bool
    ) throws -> Data {
        try object.archive()
    }
}

extension NSKeyedUnarchiver {
    /// Decodes an archived history token. This overload is more specific than Foundation's method, which cannot resolve
    /// the class name of the archive before the program has used a coordinator or a token.
    ///
    /// - Throws: An error of Foundation's if the data is not an archive of a token.
    public static func unarchivedObject(
        ofClass cls: NSPersistentHistoryToken.Type, from data: Data
    ) throws -> NSPersistentHistoryToken? {
        _ = NSPersistentHistoryToken.isRegistered
        return try unarchivedObject(ofClasses: [cls], from: data) as? NSPersistentHistoryToken
    }
}
