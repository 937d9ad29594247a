#if PostgreSQL
    import Foundation
    import Synchronization

    /// A socket before the server's, which can cut a connection when the server has executed a commit and before the client hears
    /// of it.
    final class SocketProxy: Sendable {
        let folder: URL
        private let target: String
        private let listener: Int32
        private let isArmed = Atomic(false)
        private let cutCount = Atomic(0)

        /// The number of connections that were cut.
        var cuts: Int { cutCount.load(ordering: .relaxed) }

        /// - Parameter target: The path of the server's socket.
        init(to target: String) throws {
            self.target = target
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("p\(UInt32.random(in: 0...99999))")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            let bound = Self.withAddress(folder.appendingPathComponent(".s.PGSQL.5432").path) { [listener] in
                bind(listener, $0, $1)
            }
            guard bound == 0, listen(listener, 16) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
            Thread.detachNewThread { [weak self, listener] in
                while true {
                    let client = accept(listener, nil, nil)
                    guard client >= 0 else { return }
                    self?.serve(client)
                }
            }
        }

        deinit {
            shutdown(listener, Int32(SHUT_RDWR))
            close(listener)
            try? FileManager.default.removeItem(at: folder)
        }

        /// Cuts the connection of the next commit.
        func cutNextCommit() { isArmed.store(true, ordering: .relaxed) }

        private static func withAddress<Result>(
            _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
        ) -> Result {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8.prefix(107)) + [0]) }
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }

        private func serve(_ client: Int32) {
            let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            guard Self.withAddress(target, { connect(server, $0, $1) }) == 0 else {
                close(client)
                return
            }
            let isCutting = Cutting()
            Thread.detachNewThread { [self] in
                Self.copy(from: client, to: server) { bytes in
                    if String(decoding: bytes, as: UTF8.self).contains("COMMIT"),
                        isArmed.exchange(false, ordering: .relaxed)
                    {
                        isCutting.flag.store(true, ordering: .relaxed)
                    }
                    return true
                }
                shutdown(server, Int32(SHUT_RDWR))
            }
            Thread.detachNewThread { [self] in
                // The answer shows that the commit has been executed.
                Self.copy(from: server, to: client) { _ in !isCutting.flag.load(ordering: .relaxed) }
                if isCutting.flag.load(ordering: .relaxed) { cutCount.add(1, ordering: .relaxed) }
                for socket in [client, server] {
                    shutdown(socket, Int32(SHUT_RDWR))
                    close(socket)
                }
            }
        }

        private final class Cutting: Sendable {
            let flag = Atomic(false)
        }

        private static func copy(
            from source: Int32, to destination: Int32, while continues: ([UInt8]) -> Bool
        ) {
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = read(source, &buffer, buffer.count)
                guard count > 0, continues(Array(buffer[..<count])) else { return }
                var sent = 0
                while sent < count {
                    let written = buffer.withUnsafeBytes {
                        send(destination, $0.baseAddress.map { $0 + sent }, count - sent, Int32(MSG_NOSIGNAL))
                    }
                    guard written > 0 else { return }
                    sent += written
                }
            }
        }
    }
#endif
