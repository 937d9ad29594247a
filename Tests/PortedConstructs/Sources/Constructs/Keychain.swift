import Foundation

// Names of the module Security, which Foundation imports on Apple's platforms.

func password() -> [Any] {
    [
        SecItemAdd,
        SecItemCopyMatching,
        SecItemDelete,
        SecItemUpdate,
        kSecAttrAccessGroup,
        kSecAttrAccessible,
        kSecAttrAccount,
        kSecAttrService,
        kSecClass,
        kSecClassGenericPassword,
        kSecMatchLimit,
        kSecMatchLimitOne,
        kSecReturnData,
        kSecUseDataProtectionKeychain,
        kSecValueData,
    ]
}
