// Key-value coding of the defaults, which Foundation has on Apple's platforms only. Data layers keep the position in the history there.
import Foundation

extension UserDefaults {
    /// The value of a key: `object(forKey:)`.
    public func value(forKey key: String) -> Any? { object(forKey: key) }

    /// Sets the value of a key, or removes it: `set(_:forKey:)`.
    public func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }
}
