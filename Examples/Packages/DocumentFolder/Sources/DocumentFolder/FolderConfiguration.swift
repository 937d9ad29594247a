import Foundation
import SwiftData

/// The folder that keeps the models of a container.
public struct FolderConfiguration: DataStoreConfiguration {
    public typealias Store = FolderStore

    public let name: String
    public var schema: Schema?
    public let folder: URL

    public init(_ folder: URL, name: String = "folder", schema: Schema? = nil) {
        (self.folder, self.name, self.schema) = (folder, name, schema)
    }

    public func validate() throws {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder), !isFolder.boolValue {
            throw CocoaError(.fileWriteFileExists, userInfo: [NSFilePathErrorKey: folder.path])
        }
    }

    public static func == (one: FolderConfiguration, other: FolderConfiguration) -> Bool {
        one.name == other.name && one.folder == other.folder
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(folder) }
}
