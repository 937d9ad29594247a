import AtomicFiles
import Foundation

extension CocoaError {
    /// The error of a store whose files cannot be written.
    init(writingStoreAt url: URL, _ error: FileError) {
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
