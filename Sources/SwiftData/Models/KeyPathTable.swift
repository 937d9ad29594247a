import Foundation
import Synchronization

/// Finds the property of a key path by the address of the key path, for the accessors of `@Model`.
///
/// Hashing a key path costs a hundred times as much. Each literal in a program is one object, so that a class needs a few entries for a
/// property. The table retains its key paths: an address in it is never that of another one. Any thread reads it without a lock, and
/// without counting references: the properties of a class live as long as the program.
final class KeyPathTable: @unchecked Sendable {  // because entries are published atomically and never changed
    private struct Entry: ~Copyable {
        let address = Atomic<UInt>(0)
        let property = Atomic<UnsafeMutableRawPointer?>(nil)
    }

    private let entries: UnsafeMutablePointer<Entry>
    private let mask: Int
    private let adding = NSLock()

    /// - Parameter count: The number of properties.
    init(count: Int) {
        var capacity = 64
        while capacity < count * 16 { capacity *= 2 }
        mask = capacity - 1
        entries = .allocate(capacity: capacity)
        for slot in 0..<capacity { (entries + slot).initialize(to: Entry()) }
    }

    deinit {
        entries.deinitialize(count: mask + 1)
        entries.deallocate()
    }

    private static let probes = 4

    private static func address(of keyPath: AnyKeyPath) -> UInt { UInt(bitPattern: ObjectIdentifier(keyPath)) }

    private func slot(_ address: UInt, _ probe: Int) -> Int {
        (Int(truncatingIfNeeded: ((address >> 4) &* 0x9E37_79B9_7F4A_7C15) >> 40) &+ probe) & mask
    }

    /// A key path's property; nil if the table does not have the key path.
    func property(of keyPath: AnyKeyPath) -> Unmanaged<ModelProperty>? {
        let address = Self.address(of: keyPath)
        for probe in 0..<Self.probes {
            let entry = entries + slot(address, probe)
            let found = entry.pointee.address.load(ordering: .acquiring)
            if found == address {
                return entry.pointee.property.load(ordering: .relaxed).map { .fromOpaque($0) }
            }
            if found == 0 { return nil }
        }
        return nil
    }

    /// Adds a key path, if there is room.
    func add(_ keyPath: AnyKeyPath, _ property: ModelProperty) {
        let address = Self.address(of: keyPath)
        adding.withLock {
            for probe in 0..<Self.probes {
                let entry = entries + slot(address, probe)
                let found = entry.pointee.address.load(ordering: .relaxed)
                if found == address { return }
                guard found == 0 else { continue }
                // Retained for the life of the program, as model classes are.
                _ = Unmanaged.passRetained(keyPath)
                entry.pointee.property.store(Unmanaged.passUnretained(property).toOpaque(), ordering: .relaxed)
                entry.pointee.address.store(address, ordering: .releasing)
                return
            }
        }
    }
}
