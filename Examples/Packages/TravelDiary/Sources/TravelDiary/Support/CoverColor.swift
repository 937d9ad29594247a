import CoreData
import Foundation

/// A color in a form that does not depend on the user interface.
@objc(CoverColor)
public final class CoverColor: NSObject, NSSecureCoding {
    public static var supportsSecureCoding: Bool { true }

    @objc public let red: Double
    @objc public let green: Double
    @objc public let blue: Double

    @objc public init(red: Double, green: Double, blue: Double) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    public required init?(coder: NSCoder) {
        red = coder.decodeDouble(forKey: #keyPath(CoverColor.red))
        green = coder.decodeDouble(forKey: #keyPath(CoverColor.green))
        blue = coder.decodeDouble(forKey: #keyPath(CoverColor.blue))
    }

    public func encode(with coder: NSCoder) {
        coder.encode(red, forKey: #keyPath(CoverColor.red))
        coder.encode(green, forKey: #keyPath(CoverColor.green))
        coder.encode(blue, forKey: #keyPath(CoverColor.blue))
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CoverColor else { return false }
        return (red, green, blue) == (other.red, other.green, other.blue)
    }

    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(red)
        hasher.combine(green)
        hasher.combine(blue)
        return hasher.finalize()
    }
}

/// Stores a color as three numbers in text.
@objc(CoverColorTransformer)
final class CoverColorTransformer: ValueTransformer {
    static let name = NSValueTransformerName(rawValue: String(describing: CoverColorTransformer.self))

    override class func transformedValueClass() -> AnyClass { NSData.self }

    override class func allowsReverseTransformation() -> Bool { true }

    override func transformedValue(_ value: Any?) -> Any? {
        guard let color = value as? CoverColor else { return nil }
        let numbers = [color.red, color.green, color.blue]
        return try? JSONEncoder().encode(numbers)
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data, let numbers = try? JSONDecoder().decode([Double].self, from: data),
            numbers.count == 3
        else { return nil }
        return CoverColor(red: numbers[0], green: numbers[1], blue: numbers[2])
    }

    /// Must be called before the store is loaded.
    @objc static func register() {
        ValueTransformer.setValueTransformer(CoverColorTransformer(), forName: name)
    }
}
