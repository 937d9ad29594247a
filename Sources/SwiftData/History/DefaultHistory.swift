import CoreData
import Foundation
import ManagedObjects

/// A position in the history of a container's stores: the number of the last transaction of each.
public struct DefaultHistoryToken: HistoryToken {
    public typealias TokenType = [String: Int64]
    public typealias ID = Int
    public let tokenValue: TokenType?

    public var id: Int { hashValue }

    init(_ token: NSPersistentHistoryToken) { tokenValue = token.numbers }

    /// A position in the history of one store.
    init(store: String, number: Int64) { tokenValue = [store: number] }

    /// A position in the history of several stores.
    init(joining tokens: some Sequence<DefaultHistoryToken>) {
        tokenValue = tokens.reduce(into: [:]) { $0.merge($1.tokenValue ?? [:]) { max($0, $1) } }
    }

    /// The position before the last transaction of each store.
    var previous: DefaultHistoryToken { DefaultHistoryToken(numbers: (tokenValue ?? [:]).mapValues { max(0, $0 - 1) }) }

    private init(numbers: TokenType) { tokenValue = numbers }

    /// Whether the position is before another one: for stores that both name, by their numbers.
    public static func < (lhs: DefaultHistoryToken, rhs: DefaultHistoryToken) -> Bool {
        let (left, right) = (lhs.tokenValue ?? [:], rhs.tokenValue ?? [:])
        let common = left.keys.filter { right[$0] != nil }.sorted()
        if common.isEmpty { return left.count < right.count }
        return common.map { left[$0] ?? 0 }.lexicographicallyPrecedes(common.map { right[$0] ?? 0 })
    }
}

/// One save.
public struct DefaultHistoryTransaction: HistoryTransaction {
    public typealias ID = Int64
    public typealias TokenType = DefaultHistoryToken
    public typealias TransactionIdentifier = Int64

    public let author: String?
    public let bundleIdentifier: String
    public let changes: [HistoryChange]
    public let processIdentifier: String
    public let storeIdentifier: String
    public let timestamp: Date
    public let token: DefaultHistoryToken
    public let transactionIdentifier: Int64
    public var id: Int64 { transactionIdentifier }

    public static func == (lhs: DefaultHistoryTransaction, rhs: DefaultHistoryTransaction) -> Bool {
        lhs.transactionIdentifier == rhs.transactionIdentifier && lhs.storeIdentifier == rhs.storeIdentifier
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(transactionIdentifier) }

    init(_ transaction: NSPersistentHistoryTransaction) {
        author = transaction.author
        bundleIdentifier = transaction.bundleID
        processIdentifier = transaction.processID
        storeIdentifier = transaction.storeID
        timestamp = transaction.timestamp
        token = DefaultHistoryToken(transaction.token)
        let number = transaction.transactionNumber
        transactionIdentifier = number
        changes = (transaction.changes ?? []).compactMap { change in
            guard let modelClass = change.changedObjectID.entity.companion as? ModelClass else { return nil }
            func made<M: PersistentModel>(_: M.Type) -> HistoryChange {
                Self.change(change, of: M.self, modelClass, number)
            }
            return _openExistential(modelClass.type, do: made)
        }
    }

    private static func change<M: PersistentModel>(
        _ change: NSPersistentHistoryChange, of model: M.Type, _ modelClass: ModelClass, _ transaction: Int64
    ) -> HistoryChange {
        let identifier = PersistentIdentifier(change.changedObjectID)
        func keyPath(_ name: String) -> AnyKeyPath? { modelClass.properties.first { $0.name == name }?.keyPath }
        switch change.changeType {
        case .insert:
            return .insert(
                DefaultHistoryInsert<M>(
                    changeIdentifier: change.changeID, changedPersistentIdentifier: identifier,
                    transactionIdentifier: transaction))
        case .update:
            let paths = (change.updatedProperties ?? []).map(\.name).sorted().compactMap(keyPath)
            return .update(
                DefaultHistoryUpdate<M>(
                    changeIdentifier: change.changeID, changedPersistentIdentifier: identifier,
                    transactionIdentifier: transaction,
                    // Sound because key paths to properties of classes are immutable; the type of the literal only does not say so.
                    updatedAttributes: paths.compactMap { InheritedProperty.path($0, from: M.self) }.map {
                        unsafeBitCast($0, to: (any PartialKeyPath<M> & Sendable).self)
                    }))
        case .delete:
            let values: [(keyPath: AnyKeyPath, value: any Sendable)] = modelClass.properties.compactMap { property in
                guard let stored = change.tombstone?[property.name], !(stored is NSNull),
                    let value = try? property.form?.value(of: stored, as: unwrappedType(property.valueType))
                else { return nil }
                // Unsafe because a marker protocol cannot be asked for: attributes are values, or objects that nobody else has.
                return (property.keyPath, unsafeBitCast(value as Any, to: (any Sendable).self))
            }
            return .delete(
                DefaultHistoryDelete<M>(
                    changeIdentifier: change.changeID, changedPersistentIdentifier: identifier,
                    transactionIdentifier: transaction, tombstone: HistoryTombstone<M>(values)))
        }
    }
}

public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert, Hashable {
    public typealias ChangeIdentifier = Int64
    public typealias TransactionIdentifier = Int64
    public let changeIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
    public let transactionIdentifier: Int64
}

public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate, Hashable {
    public typealias ChangeIdentifier = Int64
    public typealias TransactionIdentifier = Int64
    public typealias PropertyUpdate = PartialKeyPath<Model> & Sendable
    public let changeIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
    public let transactionIdentifier: Int64
    public let updatedAttributes: [any PartialKeyPath<Model> & Sendable]

    public static func == (lhs: DefaultHistoryUpdate<Model>, rhs: DefaultHistoryUpdate<Model>) -> Bool {
        lhs.changeIdentifier == rhs.changeIdentifier
            && lhs.changedPersistentIdentifier == rhs.changedPersistentIdentifier
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(changeIdentifier) }
}

public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete, Hashable {
    public typealias ChangeIdentifier = Int64
    public typealias TransactionIdentifier = Int64
    public let changeIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
    public let transactionIdentifier: Int64
    public let tombstone: HistoryTombstone<Model>

    public static func == (lhs: DefaultHistoryDelete<Model>, rhs: DefaultHistoryDelete<Model>) -> Bool {
        lhs.changeIdentifier == rhs.changeIdentifier
            && lhs.changedPersistentIdentifier == rhs.changedPersistentIdentifier
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(changeIdentifier) }
}

/// The key path of a property from a class that inherits it: first to the model as one of the superclass, then to the property.
private struct InheritedProperty<Superclass>: Hashable {
    /// Nil if the class does not have the property.
    static func path<Model: PersistentModel>(_ keyPath: AnyKeyPath, from _: Model.Type) -> PartialKeyPath<Model>?
    where Superclass == Never {
        if let path = keyPath as? PartialKeyPath<Model> { return path }
        func path<Root: PersistentModel>(_: Root.Type) -> AnyKeyPath? {
            guard Model.self is Root.Type else { return nil }
            let superclass: KeyPath<Model, Root> = \.[inherited: InheritedProperty<Root>()]
            return (superclass as AnyKeyPath).appending(path: keyPath)
        }
        guard let root = type(of: keyPath).rootType as? any PersistentModel.Type else { return nil }
        return _openExistential(root, do: path) as? PartialKeyPath<Model>
    }
}

extension PersistentModel {
    /// The model as one of a superclass.
    fileprivate subscript<Superclass>(inherited _: InheritedProperty<Superclass>) -> Superclass {
        guard let model = self as? Superclass else { preconditionFailure("\(Self.self) is no \(Superclass.self).") }
        return model
    }
}
