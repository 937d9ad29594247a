import Foundation
import Synchronization

/// The classes of the program and of its libraries, by their names.
///
/// Foundation finds a Swift class only by its name with the module, and only where no type encloses it. Models, mapping
/// models and transformable attributes name classes without their modules, which Objective-C's runtime finds.
/// This reads the lists of types from which Swift's runtime itself finds classes: each executable and library has one.
///
/// The layout of the lists is that of Swift's ABI: `TypeContextDescriptor` in the runtime's `Metadata.h`.
package enum ProgramClasses {
    /// The classes of a name: a class's own name, or one with enclosing types and the module, separated by dots. Several
    /// if several modules have a class of that name. Classes that are generic, local or private are not found.
    ///
    /// Cost: the first call reads the names of all types, some milliseconds.
    package static func named(_ name: String) -> [AnyClass] {
        let own = name.split(separator: ".").last.map(String.init) ?? name
        let found = descriptors(named: own).compactMap(metadata(of:))
        guard own != name else { return found }
        return found.filter { foundClass in
            let fullName = String(reflecting: foundClass)
            return fullName == name || fullName.hasSuffix("." + name)
        }
    }

    // MARK: - Lists of types

    private struct Index {
        /// The lists that have been read.
        var lists: Set<UInt> = []
        /// The addresses of the classes' descriptors, by the classes' own names.
        var descriptors: [String: [UInt]] = [:]
    }

    private static let index = Mutex(Index())

    private static func descriptors(named name: String) -> [UInt] {
        let lists = lists()
        return index.withLock { index in
            // A library may have been loaded since the last call.
            for list in lists where index.lists.insert(list.start).inserted {
                for offset in stride(from: 0, to: list.length, by: 4) {
                    guard let descriptor = descriptor(at: list.start + offset), let name = className(of: descriptor)
                    else { continue }
                    index.descriptors[name, default: []].append(descriptor)
                }
            }
            return index.descriptors[name] ?? []
        }
    }

    private struct List {
        let start: UInt
        let length: UInt
    }

    /// The addresses of the lists.
    private static func lists() -> [List] {
        var lists: [List] = []
        withUnsafeMutablePointer(to: &lists) { lists in
            enumerateMetadataSections(
                { sections, lists in
                    // Four words, two for the list of protocols, two for that of conformances, then the list of types.
                    let start = sections.load(fromByteOffset: 8 * MemoryLayout<UInt>.size, as: UInt.self)
                    let length = sections.load(fromByteOffset: 9 * MemoryLayout<UInt>.size, as: UInt.self)
                    if start != 0 {
                        lists.assumingMemoryBound(to: [List].self).pointee.append(List(start: start, length: length))
                    }
                    return true
                }, UnsafeMutableRawPointer(lists))
        }
        return lists
    }

    // MARK: - Descriptors

    // Addresses in this section are those of the runtime's constants, which exist as long as their library is loaded;
    // libraries with Swift code are never unloaded.

    private static func load<Value>(_ address: UInt, as type: Value.Type) -> Value? {
        UnsafeRawPointer(bitPattern: address)?.loadUnaligned(as: type)
    }

    /// The address to which an offset relative to its own address refers; nil for no address.
    private static func target(ofOffsetAt address: UInt, mask: Int32 = -1) -> UInt? {
        guard let offset = load(address, as: Int32.self), offset & mask != 0 else { return nil }
        return UInt(bitPattern: Int(bitPattern: address) + Int(offset & mask))
    }

    /// The descriptor of an element of a list: a relative reference, whose last two bits mark an indirect one.
    private static func descriptor(at element: UInt) -> UInt? {
        guard let reference = load(element, as: Int32.self), let target = target(ofOffsetAt: element, mask: ~3) else {
            return nil
        }
        switch reference & 3 {
        case 0: return target
        case 1: return load(target, as: UInt.self).flatMap { $0 == 0 ? nil : $0 }
        default: return nil
        }
    }

    /// The name of a class; nil for another type, and for classes that are generic, local or private.
    private static func className(of descriptor: UInt) -> String? {
        let (classKind, isGeneric) = (UInt32(16), UInt32(0x80))
        guard let flags = load(descriptor, as: UInt32.self), flags & kindMask == classKind, flags & isGeneric == 0,
            isInNamedContext(descriptor),
            let name = target(ofOffsetAt: descriptor + 8).flatMap(UnsafePointer<CChar>.init(bitPattern:))
        else { return nil }
        return String(cString: name)
    }

    private static let kindMask: UInt32 = 0x1F

    /// Whether all contexts that enclose a descriptor have names: types and a module, but no function or file.
    private static func isInNamedContext(_ descriptor: UInt) -> Bool {
        let anonymousKind: UInt32 = 2
        var context = descriptor
        while let reference = load(context + 4, as: Int32.self), reference != 0 {
            guard let target = target(ofOffsetAt: context + 4, mask: ~1) else { return false }
            guard let parent = reference & 1 == 0 ? target : load(target, as: UInt.self), parent != 0,
                let flags = load(parent, as: UInt32.self), flags & kindMask != anonymousKind
            else { return false }
            context = parent
        }
        return true
    }

    /// The class of a descriptor: its access function returns it.
    private static func metadata(of descriptor: UInt) -> AnyClass? {
        guard let address = target(ofOffsetAt: descriptor + 12).flatMap(UnsafeRawPointer.init(bitPattern:)) else {
            return nil
        }
        typealias Access = @convention(c) (Int) -> UnsafeRawPointer
        let metadata = unsafeBitCast(address, to: Access.self)(0)
        return unsafeBitCast(metadata, to: Any.Type.self) as? AnyClass
    }
}

/// Calls a function with the table of sections of each library that contains Swift code, until it returns false. A
/// function of Swift's runtime on platforms without Objective-C; Swift Testing finds tests with it.
@_silgen_name("swift_enumerateAllMetadataSections")
private func enumerateMetadataSections(
    _ body: @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer) -> Bool, _ context: UnsafeMutableRawPointer)
