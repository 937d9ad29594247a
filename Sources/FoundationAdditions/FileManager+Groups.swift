import Foundation

extension FileManager {
    /// The folder that the programs of a group share: one with the group's name in the user's folder for application data, because
    /// there are no groups outside Apple's platforms. It is created if it does not exist.
    ///
    /// - Returns: nil if the name cannot be that of a folder, or if the folder cannot be created.
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
        let isName =
            !["", ".", ".."].contains(groupIdentifier) && !groupIdentifier.contains { $0 == "/" || $0 == "\0" }
        guard isName, let folder = urls(for: .applicationSupportDirectory, in: .userDomainMask).first else {
            return nil
        }
        let url = folder.appendingPathComponent(groupIdentifier, isDirectory: true)
        do {
            try createDirectory(at: url, withIntermediateDirectories: true)
            return url
        } catch {
            return nil
        }
    }
}
