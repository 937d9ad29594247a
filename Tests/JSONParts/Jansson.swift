import Foundation

/// Jansson, a JSON library in C, if it is installed: it parses text to a tree and writes a tree to text.
///
/// Loaded at run time, so that it is not needed for building.
struct Jansson {
    private typealias Load = @convention(c) (UnsafePointer<CChar>, Int, Int, UnsafeMutableRawPointer?) -> OpaquePointer?
    private typealias Dump = @convention(c) (OpaquePointer, Int) -> UnsafeMutablePointer<CChar>?
    private typealias Delete = @convention(c) (OpaquePointer) -> Void

    private let load: Load
    private let dump: Dump
    private let delete: Delete

    /// Nil if the library is not installed.
    init?() {
        guard let library = dlopen("libjansson.so.4", RTLD_NOW), let load = dlsym(library, "json_loadb"),
            let dump = dlsym(library, "json_dumps"), let delete = dlsym(library, "json_delete")
        else { return nil }
        // Unsafe because symbols have no types; these are the types of the library's header.
        self.load = unsafeBitCast(load, to: Load.self)
        self.dump = unsafeBitCast(dump, to: Dump.self)
        self.delete = unsafeBitCast(delete, to: Delete.self)
    }

    /// Parses a document to a tree and calls a closure with it; false for an invalid document.
    func withTree(_ document: Data, _ body: (OpaquePointer) throws -> Void) rethrows -> Bool {
        let tree = document.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { $0.baseAddress.flatMap { load($0, document.count, 0, nil) } }
        }
        guard let tree else { return false }
        defer { delete(tree) }
        try body(tree)
        return true
    }

    /// Writes a tree to text, and frees the text.
    func write(_ tree: OpaquePointer) {
        // JSON_COMPACT
        free(dump(tree, 0x20))
    }
}
