import AtomicFiles
import Foundation

extension CocoaError {
    /// An error of a store: its code, a sentence, and the store's location.
    package init(_ code: CocoaError.Code, _ sentence: String, url: URL? = nil, userInfo: [String: Any] = [:]) {
        var userInfo = userInfo
        userInfo[NSLocalizedDescriptionKey] = sentence
        userInfo[NSURLErrorKey] = url
        userInfo[NSFilePathErrorKey] = url.flatMap { $0.isFileURL ? $0.path : nil }
        self.init(code, userInfo: userInfo)
    }

    /// The error of a store whose files cannot be written.
    package init(writingStoreAt url: URL, _ error: FileError) {
        let code: Code =
            switch (error.code, error.systemCode) {
            case (.exists, _): .fileWriteFileExists
            case (_, ENOSPC), (_, EDQUOT): .fileWriteOutOfSpace
            case (_, EACCES), (_, EPERM): .fileWriteNoPermission
            case (_, EROFS): .fileWriteVolumeReadOnly
            case (_, ENOENT), (_, ENOTDIR): .fileNoSuchFile
            default: .fileWriteUnknown
            }
        self.init(code, "The store at \(url.path) cannot be written: \(error.reason).", url: url)
    }
}

/// What a store does when an error of its database occurs.
package enum StoreActivity: Sendable {
    case opening, reading, saving

    /// Core Data's code where that of the database is too general.
    package var code: CocoaError.Code {
        switch self {
        case .opening: .persistentStoreOpen
        case .reading: .fileReadUnknown
        case .saving: .persistentStoreSave
        }
    }
}
