// Written by coral convert.
// swift-format-ignore-file

import Foundation
import GRDB

/// A row of the table `account`.
struct Account: Codable, Identifiable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "account"

    var id: UUID
    var type: String
    var balance: Decimal?
    var `class`: Bool?
    var createdAt: Date?
    var createdat2: String?
    var name: String
    var photo: Data?
    var ratio: Float?
    var site: URL?
    var token: UUID?
    var parentId: UUID?
    var parentPosition: Int?
    var profileId: UUID?
    var level: Int64?
    var level2: String?

    // UUIDs are text in this database.
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .uppercaseString
    }

    static let children = hasMany(Account.self, key: "children", using: ForeignKey(["parentId"])).order(Column("parentPosition"))
    static let friends = hasMany(
        Account.self, through: hasMany(AccountFriends.self, key: "accountFriends", using: ForeignKey(["accountId"])),
        using: AccountFriends.member, key: "friends")
    static let labels = hasMany(
        DataRecord.self, through: hasMany(AccountLabels.self, key: "accountLabels", using: ForeignKey(["accountId"])).order(Column("position")),
        using: AccountLabels.member, key: "labels")
    static let parent = belongsTo(Account.self, key: "parent", using: ForeignKey(["parentId"]))
    static let profile = belongsTo(DataRecord.self, key: "profile", using: ForeignKey(["profileId"]))
}

/// A row of the table `data`.
struct DataRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "data"

    var objectId: UUID
    var id: String?
    var type: String?

    // UUIDs are text in this database.
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .uppercaseString
    }

    static let accounts = hasMany(
        Account.self, through: hasMany(AccountLabels.self, key: "accountLabels", using: ForeignKey(["dataId"])),
        using: AccountLabels.owner, key: "accounts")
    static let owner = hasOne(Account.self, key: "owner", using: ForeignKey(["profileId"]))
}

/// A row of the table `accountFriends`.
struct AccountFriends: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "accountFriends"

    var accountId: UUID
    var accountId2: UUID

    // UUIDs are text in this database.
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .uppercaseString
    }

    static let owner = belongsTo(Account.self, key: "owner", using: ForeignKey(["accountId"]))
    static let member = belongsTo(Account.self, key: "member", using: ForeignKey(["accountId2"]))
}

/// A row of the table `accountLabels`.
struct AccountLabels: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "accountLabels"

    var accountId: UUID
    var dataId: UUID
    var position: Int?

    // UUIDs are text in this database.
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .uppercaseString
    }

    static let owner = belongsTo(Account.self, key: "owner", using: ForeignKey(["accountId"]))
    static let member = belongsTo(DataRecord.self, key: "member", using: ForeignKey(["dataId"]))
}
