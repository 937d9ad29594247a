import Foundation

/// The members of an unordered relationship as key-value coding returns them: an immutable set over an array of distinct
/// objects, which needs no table to be iterated.
final class MemberSet: NSSet {
    private var members: [NSManagedObject] = []
    /// The members, once more than a few are searched.
    private lazy var identifiers = Set(members.map(ObjectIdentifier.init))

    private static let fewMembers = 8

    /// - Parameter members: Distinct objects.
    convenience init(_ members: [NSManagedObject]) {
        self.init(objects: nil, count: 0)
        self.members = members
    }

    override init(objects: UnsafePointer<AnyObject>?, count: Int) { super.init(objects: objects, count: count) }

    required convenience init?(coder: NSCoder) { nil }

    override var count: Int { members.count }

    override var allObjects: [Any] { members }

    override func member(_ object: Any) -> Any? {
        guard let object = object as? NSManagedObject else { return nil }
        let isMember =
            members.count <= MemberSet.fewMembers
            ? members.contains { $0 === object } : identifiers.contains(ObjectIdentifier(object))
        return isMember ? object : nil
    }

    override func objectEnumerator() -> NSEnumerator { NSArray(array: members).objectEnumerator() }

    override func copy(with zone: NSZone? = nil) -> Any { self }
}
