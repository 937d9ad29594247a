import CoreData
import Foundation

/// Where a container keeps its models: a file, or memory.
public struct ModelConfiguration: DataStoreConfiguration, Hashable, Identifiable, CustomDebugStringConvertible {
    public typealias ID = URL
    public typealias Store = DefaultStore

    public let name: String
    public let url: URL
    /// The part of the container's schema that this configuration keeps; nil means all.
    public var schema: Schema?
    public let isStoredInMemoryOnly: Bool
    public let allowsSave: Bool
    public let groupContainer: GroupContainer
    public let groupAppContainerIdentifier: String?
    public let cloudKitDatabase: CloudKitDatabase
    /// Always nil: there is no CloudKit on this platform.
    public let cloudKitContainerIdentifier: String?
    public var id: URL { url }

    /// The default configuration: the file `default.store` in the user's folder for application data.
    public init(isStoredInMemoryOnly: Bool = false) { self.init(nil, isStoredInMemoryOnly: isStoredInMemoryOnly) }

    /// The default configuration for some models.
    public init(for forTypes: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
        self.init(nil, schema: Schema(forTypes), isStoredInMemoryOnly: isStoredInMemoryOnly)
    }

    /// A configuration whose file is named after it.
    ///
    /// - Parameters:
    ///   - name: The name, and that of the file; `default` if nil.
    ///   - groupContainer: A group's folder, which is a folder of that name beside the application data on this platform.
    public init(
        _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true,
        groupContainer: GroupContainer = .automatic, cloudKitDatabase: CloudKitDatabase = .automatic
    ) {
        let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
        var folder = folders.first ?? FileManager.default.homeDirectoryForCurrentUser
        if let group = groupContainer.identifier { folder.append(path: group) }
        self.init(
            name: name ?? "default", schema: schema,
            url: isStoredInMemoryOnly
                ? URL(fileURLWithPath: "/dev/null") : folder.appending(path: (name ?? "default") + ".store"),
            isStoredInMemoryOnly: isStoredInMemoryOnly, allowsSave: allowsSave, groupContainer: groupContainer,
            cloudKitDatabase: cloudKitDatabase)
    }

    /// A configuration with a file of one's choice.
    public init(
        _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
        cloudKitDatabase: CloudKitDatabase = .automatic
    ) {
        self.init(
            name: name ?? url.deletingPathExtension().lastPathComponent, schema: schema, url: url,
            isStoredInMemoryOnly: url.path == "/dev/null", allowsSave: allowsSave, groupContainer: .none,
            cloudKitDatabase: cloudKitDatabase)
    }

    private init(
        name: String, schema: Schema?, url: URL, isStoredInMemoryOnly: Bool, allowsSave: Bool,
        groupContainer: GroupContainer, cloudKitDatabase: CloudKitDatabase
    ) {
        (self.name, self.schema, self.url) = (name, schema, url)
        (self.isStoredInMemoryOnly, self.allowsSave) = (isStoredInMemoryOnly, allowsSave)
        (self.groupContainer, groupAppContainerIdentifier) = (groupContainer, groupContainer.identifier)
        (self.cloudKitDatabase, cloudKitContainerIdentifier) = (cloudKitDatabase, nil)
    }

    /// Checks the name of the file.
    ///
    /// - Throws: ``SwiftDataError/configurationFileNameTooLong`` and
    ///   ``SwiftDataError/configurationFileNameContainsInvalidCharacters``.
    public func validate() throws {
        if name.utf8.count > 255 - ".store-journal".utf8.count {
            throw SwiftDataError.configurationFileNameTooLong.because("The name has \(name.utf8.count) bytes.")
        }
        if name.contains("/") || name.contains("\0") || name.isEmpty {
            throw SwiftDataError.configurationFileNameContainsInvalidCharacters.because("The name is “\(name)”.")
        }
    }

    public static func == (lhs: ModelConfiguration, rhs: ModelConfiguration) -> Bool {
        lhs.name == rhs.name && lhs.url == rhs.url && lhs.isStoredInMemoryOnly == rhs.isStoredInMemoryOnly
            && lhs.allowsSave == rhs.allowsSave && lhs.groupContainer == rhs.groupContainer
            && lhs.cloudKitDatabase == rhs.cloudKitDatabase && lhs.schema == rhs.schema
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(url)
    }

    public var debugDescription: String { "\(name) (\(isStoredInMemoryOnly ? "in memory" : url.absoluteString))" }

    /// The group of programs that share a store.
    public struct GroupContainer: Hashable, Sendable {
        let identifier: String?

        /// The first group of the program's entitlements; none on this platform.
        public static var automatic: GroupContainer { GroupContainer(identifier: nil) }
        public static var none: GroupContainer { GroupContainer(identifier: nil) }
        public static func identifier(_ groupName: String) -> GroupContainer { GroupContainer(identifier: groupName) }
    }

    /// The database in iCloud. There is none on this platform: the store is kept on this machine only.
    public struct CloudKitDatabase: Hashable, Sendable {
        public static var automatic: CloudKitDatabase { CloudKitDatabase() }
        public static var none: CloudKitDatabase { CloudKitDatabase() }

        @available(*, unavailable, message: "CloudKit exists only on Apple's platforms.")
        public static func `private`(_ privateDBName: String) -> CloudKitDatabase { CloudKitDatabase() }
    }
}
