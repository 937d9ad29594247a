import Foundation

/// A lock on a folder among processes that use this type, released when it is deallocated or the process ends.
///
/// On a file system without such locks, nothing is locked.
package final class FolderLock {
    private let descriptor: Int32

    /// Waits until no other process has the lock. Throws `CocoaError.userCancelled` if the progress is cancelled first.
    package init(_ path: String, progress: Progress) throws {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR {
            if progress.isCancelled { throw CocoaError(.userCancelled) }
            usleep(10_000)
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
