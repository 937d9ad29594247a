import Foundation

/// Jansson, a JSON library in C, where it is installed: it makes a tree of a text and a text of a tree.
///
/// Opened while the program runs, so that nobody needs it to build.
struct Jansson {
    private typealias Load = @convention(c) (UnsafePointer<CChar>, Int, Int, UnsafeMutableRawPointer?) -> OpaquePointer?
    private typealias Dump = @convention(c) (OpaquePointer, Int) -> UnsafeMutablePointer<CChar>?
    private typealias Delete = @convention(c) (OpaquePointer) -> Void

    private let load: Load
    private let dump: Dump
    private let delete: Delete

    /// Nil where the library is not installed.
    init?() {
        guard let library = dlopen("libjansson.so.4", RTLD_NOW), let load = dlsym(library, "json_loadb"),
            let dump = dlsym(library, "json_dumps"), let delete = dlsym(library, "json_delete")
        else { return nil }
        // Unsafe because C tells no types; they are those of the library's header.
        self.load = unsafeBitCast(load, to: Load.self)
        self.dump = unsafeBitCast(dump, to: Dump.self)
        self.delete = unsafeBitCast(delete, to: Delete.self)
    }

    /// Makes a tree of a document and calls a closure with it; false where the document is not valid.
    func withTree(_ document: Data, _ body: (OpaquePointer) throws -> Void) rethrows -> Bool {
        let tree = document.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { $0.baseAddress.flatMap { load($0, document.count, 0, nil) } }
        }
        guard let tree else { return false }
        defer { delete(tree) }
        try body(tree)
        return true
    }

    /// Makes a text of a tree, and forgets it.
    func write(_ tree: OpaquePointer) {
        // JSON_COMPACT
        free(dump(tree, 0x20))
    }
}
