import ChildProcesses
import Foundation

/// A running `coral serve`, and requests to it, byte by byte, so that tests can also send what no browser would.
final class RunningServer {
    /// The address of the first page, with a slash at its end.
    let address: String
    let port: UInt16
    /// The path of the first page, which contains the token.
    let root: String
    private let process: ChildProcess
    private let folder: URL
    private var hasEnded = false

    struct Failure: Error {
        let text: String
    }

    convenience init(_ arguments: String...) throws { try self.init(arguments: arguments) }

    init(arguments: [String]) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (output, errors) = (folder.appendingPathComponent("output"), folder.appendingPathComponent("errors"))
        process = try ChildProcess(CommandRun.tool, ["serve"] + arguments, output: output, errors: errors)
        var text = ""
        // A slow machine may take minutes. A command that ends has written the reason; warnings precede the address.
        for _ in 0..<12_000 where !text.hasSuffix("\n") {
            usleep(50_000)
            text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
            let messages = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
            let isError = messages.split(separator: "\n")
                .contains { $0.hasPrefix("coral:") && !$0.hasPrefix("coral: warning:") }
            if text.isEmpty, isError { throw Failure(text: messages) }
        }
        address = text.trimmingCharacters(in: .newlines)
        guard let url = URL(string: address), let port = url.port else { throw Failure(text: text) }
        self.port = UInt16(port)
        root = url.path.hasSuffix("/") ? url.path : url.path + "/"
    }

    /// Interrupts the server; returns its exit code and its messages.
    func end() throws -> (status: Int32, errors: String) {
        hasEnded = true
        process.send(SIGINT)
        let status = process.wait()
        return (status, try String(contentsOf: folder.appendingPathComponent("errors"), encoding: .utf8))
    }

    deinit {
        if !hasEnded {
            process.kill()
            process.wait()
        }
        try? FileManager.default.removeItem(at: folder)
    }

    /// A response.
    struct Answer {
        let status: Int
        let headers: [String: String]
        let body: String
    }

    /// Gets a page below the token.
    func get(_ page: String, headers: [String: String] = [:]) throws -> Answer {
        try send("GET", root + page, headers)
    }

    /// Sends a form to a page below the token, as the page of the server does.
    func post(_ page: String, _ fields: [String: String], headers: [String: String] = [:]) throws -> Answer {
        let plain = CharacterSet.alphanumerics
        let body = fields.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: plain) ?? "")" }
            .joined(separator: "&")
        let own = ["Origin": "http://127.0.0.1:\(port)", "Content-Type": "application/x-www-form-urlencoded"]
        return try send("POST", root + page, own.merging(headers) { $1 }, body: body)
    }

    /// Sends a request. A header with an empty value is omitted.
    func send(_ method: String, _ path: String, _ headers: [String: String] = [:], body: String = "") throws -> Answer {
        let all = ["Host": "127.0.0.1:\(port)", "Connection": "close", "Content-Length": "\(body.utf8.count)"]
            .merging(headers) { $1 }
        let lines = all.filter { !$0.value.isEmpty }.map { "\($0): \($1)\r\n" }.joined()
        let data = try exchange(Data("\(method) \(path) HTTP/1.1\r\n\(lines)\r\n\(body)".utf8))
        guard let end = data.range(of: Data("\r\n\r\n".utf8)) else { throw Failure(text: "no headers") }
        let head = String(decoding: data[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        var found: [String: String] = [:]
        for line in head.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { found[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
        }
        let body = data[end.upperBound...]
        return Answer(
            status: Int(head[0].split(separator: " ").dropFirst().first ?? "") ?? 0, headers: found,
            body: String(decoding: found["transfer-encoding"] == "chunked" ? Self.unchunked(body) : body, as: UTF8.self)
        )
    }

    /// The bytes of a body that is sent in chunks, each after its size in hexadecimal digits.
    private static func unchunked(_ body: Data) -> Data {
        var (rest, bytes) = (body, Data())
        while let line = rest.range(of: Data("\r\n".utf8)),
            let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16), size > 0
        {
            let end = min(line.upperBound + size, rest.endIndex)
            bytes += rest[line.upperBound..<end]
            rest = rest[min(end + 2, rest.endIndex)...]
        }
        return bytes
    }

    /// A connection whose response is read in parts.
    final class Connection {
        private let file: FileHandle
        private var text = ""

        fileprivate init(_ file: FileHandle) { self.file = file }

        /// Reads until the response contains a text, or ends; returns what has been read.
        func read(until end: String) throws -> String {
            while !text.contains(end) {
                guard let data = try file.read(upToCount: 1), !data.isEmpty else { break }
                text += String(decoding: data, as: UTF8.self)
            }
            return text
        }

        /// Sends more of a request, or another one.
        func send(_ text: String) throws { try file.write(contentsOf: Data(text.utf8)) }

        func close() throws { try file.close() }
    }

    /// Begins to get a page.
    func begin(_ page: String) throws -> Connection {
        try begin(text: "GET \(root)\(page) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n")
    }

    /// Begins to send a request.
    func begin(text: String) throws -> Connection {
        let file = FileHandle(fileDescriptor: try connection(), closeOnDealloc: true)
        try file.write(contentsOf: Data(text.utf8))
        return Connection(file)
    }

    /// Sends bytes, and reads until the connection is closed; nil if this takes more than a number of seconds.
    ///
    /// - Parameter ends: Whether the connection is closed for writing after the request.
    func exchange(_ request: Data, seconds: Int, ends: Bool = false) throws -> String? {
        let handle = try connection()
        defer { close(handle) }
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(handle, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(handle, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        // The server may close the connection before it has read everything.
        request.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = Foundation.send(handle, bytes.baseAddress! + sent, bytes.count - sent, Self.noSignal)
                guard count > 0 else { break }
                sent += count
            }
        }
        if ends { shutdown(handle, Self.writing) }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(handle, &buffer, buffer.count, 0)
            if count > 0 {
                answer += buffer[..<count]
            } else if count < 0, errno == EAGAIN {
                return nil
            } else {
                return String(decoding: answer, as: UTF8.self)
            }
        }
    }

    #if canImport(Darwin)
        private static let noSignal: Int32 = 0
        private static let writing = SHUT_WR
    #else
        private static let noSignal = Int32(MSG_NOSIGNAL)
        private static let writing = Int32(SHUT_WR)
    #endif

    private func exchange(_ request: Data) throws -> Data {
        let handle = try connection()
        defer { close(handle) }
        let file = FileHandle(fileDescriptor: handle, closeOnDealloc: false)
        try file.write(contentsOf: request)
        return try file.readToEnd() ?? Data()
    }

    private func connection() throws -> Int32 {
        #if canImport(Darwin)
            let handle = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let handle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        place.sin_addr.s_addr = inet_addr("127.0.0.1")
        // The C function takes any kind of address.
        let connected = withUnsafePointer(to: &place) { place in
            place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(handle, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            close(handle)
            throw Failure(text: "connect: \(String(cString: strerror(errno)))")
        }
        return handle
    }
}
